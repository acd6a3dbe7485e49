// Where MCP is spoken over HTTP: finds the session that a request belongs to, begins new ones, and ends those
// that nobody uses or whose client is gone. Access was checked before.
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
  HttpEndpoint(Loop& loop, HttpSessionOpener& opener, HttpLimits limits, Clock::duration idle);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;

  /// False if the path is none of ours: /mcp, /sse, /messages, each also with the name of a server behind it.
  bool handle(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const http::Principal& principal);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
