// The MCP endpoint over HTTP: finds the session of a request, opens new sessions, and ends sessions that are
// unused or whose client is gone. The caller has already checked access. Must be used on the loop's thread.
#pragma once

#include <memory>
#include <string>

#include "base/loop.h"
#include "http/access.h"
#include "http/exchange.h"
#include "transport/http_session.h"
#include "transport/http_session_opener.h"

namespace corral::transport {

class HttpEndpoint {
 public:
  /// `loop` and `opener` must outlive the endpoint. The destructor ends all sessions.
  HttpEndpoint(Loop& loop, HttpSessionOpener& opener, HttpLimits limits, Clock::duration idle);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;

  /// Returns false if the path is not served here: /mcp, /sse and /messages, each optionally followed by the
  /// name of a server. Otherwise the exchange is answered, now or later.
  bool handle(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const http::Principal& principal);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
