// The MCP endpoint over HTTP: which transport and which server a request addresses, and which session it
// belongs to. The caller has already checked access. Must be used on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/loop.h"
#include "http/access.h"
#include "http/exchange.h"
#include "transport/http_session.h"
#include "transport/http_session_opener.h"
#include "transport/http_sessions.h"
#include "transport/owner_finder.h"

namespace corral::transport {

class HttpEndpoint {
 public:
  /// `loop` and `opener` must outlive the endpoint. The destructor ends all sessions.
  HttpEndpoint(Loop& loop, HttpSessionOpener& opener, HttpLimits limits, Clock::duration idle);
  HttpEndpoint(const HttpEndpoint&) = delete;

  /// Returns false if the path is not served here: /mcp, /sse and /messages, each optionally followed by the
  /// name of a server. Otherwise the exchange is answered, now or later.
  bool handle(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const http::Principal& principal);

 private:
  using Entry = HttpSessions::Entry;

  void streamable(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                  HttpArrival arrival);
  void post(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
            const HttpArrival& arrival);
  void initialize(const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                  const Posted& posted);
  void modern(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const HttpArrival& arrival, const Posted& posted);
  /// `owner` is the process that the session belongs to; empty = it is shared by all of the principal.
  void modern_from(const std::optional<Owner>& owner, const http::Request& request,
                   const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                   const Posted& posted);
  void sse(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
           HttpArrival arrival);
  void messages(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                const HttpArrival& arrival);
  /// Null: it was refused, and the exchange is answered.
  Entry* open(const std::string& key, const HttpArrival& arrival, std::unique_ptr<HttpSession> session,
              http::Exchange& exchange, std::string_view id);

  Loop& loop_;
  HttpSessionOpener& opener_;
  const HttpLimits limits_;
  OwnerFinder finder_;
  HttpSessions sessions_;
  Lifetime lifetime_;
};

}  // namespace corral::transport
