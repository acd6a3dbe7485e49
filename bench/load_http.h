// One client that speaks Streamable HTTP, as plain as it gets: one connection, one request at a time. Every
// answer is compared with its question.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "load.h"

namespace corral::bench {

/// Where the server is.
struct HttpPlace {
  int port = 0;
  std::string path = "/mcp";
  std::string tool = "echo";  // the name under which echo is shown
  bool modern = false;        // in the words of 2026-07-28: no session, headers that repeat the body
};

class HttpClient {
 public:
  /// Throws std::system_error if nobody listens.
  HttpClient(std::string name, const HttpPlace& place);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient();

  /// initialize, notifications/initialized, tools/list; modern: tools/list. Throws std::runtime_error unless
  /// they are answered.
  void open();

  /// Microseconds. Throws std::runtime_error for a wrong or missing answer.
  double echo(std::size_t bytes);
  /// One small question, so many bytes back.
  double blob(std::size_t bytes);

  // For many at once, as Link has it.
  void ask_echo(std::size_t bytes);
  Link::Taken take();
  int from() const { return fd_; }

  /// GET, and the answer's head: from here on the connection is a silent stream and nothing else.
  void listen();

 private:
  /// Of the answer that is being read.
  struct Answer {
    int status = 0;
    std::size_t head = 0;  // bytes of the head; 0 = not there yet
    std::size_t length = 0;
    bool chunked = false;
    std::string session;
  };
  std::string framed(const std::string& message, std::string_view method, std::string_view tool) const;
  std::string next_call(std::string_view tool, const std::string& arguments);
  std::string next_echo(std::size_t bytes);
  void write_all(std::string_view text);
  void read_some();
  void read_head();
  bool whole();
  bool is_right() const;
  Answer exchange(const std::string& request);
  double timed(const std::string& request);

  std::string name_;
  HttpPlace place_;
  int fd_ = -1;
  std::string session_;
  std::string received_;
  Answer answer_;
  unsigned next_id_ = 1;
  std::string wanted_id_;
  std::string wanted_text_;
};

/// A port on which nobody listens now.
int free_port();

/// Whether somebody accepts connections there.
bool listens(int port);

}  // namespace corral::bench
