// A client by URL that says exactly what it is told, on one connection for each request.
#pragma once

#include <cstdint>
#include <string>

namespace corral::os_tests {

/// A token of the daemon, and where it is.
struct HttpTalk {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;    // empty = none is shown
  std::string session;  // Mcp-Session-Id; empty = none

  /// The whole answer, status line first, until the daemon closes; empty if nobody is there.
  std::string ask(const std::string& method, const std::string& path, const std::string& body = "") const;
  /// An initialize of 2025-06-18; remembers the session that it began.
  std::string initialize(const std::string& path);
  /// tools/call in that session.
  std::string call(const std::string& path, const std::string& tool, const std::string& arg = "") const;
};

/// 0 if there is none.
int status_of(const std::string& answer);

}  // namespace corral::os_tests
