// A listener and its clients in one process and one thread: a test that waits turns the loop meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "http/listener.h"
#include "support/os_test.h"

namespace corral::os_tests {

class HttpListenerTest : public OsTest {
 protected:
  struct Client {
    UniqueFd socket;
    std::string got;  // not yet asked for
    bool over = false;
  };
  struct Held {
    http::Request request;
    std::shared_ptr<http::Exchange> exchange;
  };

  void open(const http::Limits& limits = {}, http::Gate gate = nullptr);
  /// At a socket in the file system instead, where the kernel holds a few hundred kilobytes and no more.
  void open_unix(const http::Limits& limits = {});

  Client connect() const;
  /// What is sent has to be taken; the loop turns meanwhile.
  void send(Client& client, std::string_view text);
  /// Sends and waits until `text` has come; takes it and what was before it. Empty if it never comes.
  std::string read_to(Client& client, std::string_view text);
  /// Everything until the end of the connection.
  std::string rest_of(Client& client);
  void read_some(Client& client);

  /// Waits until so many requests wait for their answer.
  bool holds(std::size_t count);
  void turn() { loop_.run_due(); }

  /// /echo is answered at once with its body; everything else is held.
  void handle(http::Request request, std::shared_ptr<http::Exchange> exchange);

  Loop loop_;
  std::vector<Held> held_;
  std::optional<http::Listener> listener_;

 private:
  void listen_at(UniqueFd socket, const http::Limits& limits, http::Gate gate);

  std::string address_;  // of the socket, as the kernel has it
};

}  // namespace corral::os_tests
