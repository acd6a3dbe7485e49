// One client of a proxy that speaks Streamable HTTP, as plain as it gets: one connection, one request at a
// time. Every answer is compared with its question.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corral::bench {

class HttpClient {
 public:
  /// `tool` is the name under which the proxy shows echo. Throws std::system_error if nobody listens.
  HttpClient(std::string name, int port, std::string tool);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// initialize, notifications/initialized, tools/list. Throws std::runtime_error unless both are answered.
  void open();

  /// Microseconds. Throws std::runtime_error for a wrong or missing answer.
  double echo(std::size_t bytes);

 private:
  struct Answer {
    int status = 0;
    std::string session;
    std::string body;
  };
  Answer post(const std::string& message);
  void read_more();
  void read_body(std::string_view headers, Answer& answer);
  void read_chunks(Answer& answer);

  std::string name_;
  int port_;
  std::string tool_;
  int fd_ = -1;
  std::string session_;
  std::string received_;
  unsigned next_id_ = 1;
};

/// A port on which nobody listens now.
int free_port();

/// Whether somebody accepts connections there.
bool listens(int port);

}  // namespace corral::bench
