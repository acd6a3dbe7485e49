// Handles every HTTP request, in this order: access (Host, Origin, user or token), preflight requests of
// browsers, the two health paths, which need no token, then the MCP endpoint or the API, depending on the
// path. One for each listener, because each has its own access rules. Must be used on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/http_api.h"
#include "daemon/hub.h"
#include "http/access.h"
#include "http/exchange.h"
#include "transport/http_endpoint.h"

namespace corral::daemon {

class HttpFront {
 public:
  using Tokens = std::function<const std::vector<http::Token>&()>;

  /// `hub` and `endpoint` must outlive this object. `tokens` is called for each request with an Authorization
  /// header.
  HttpFront(Hub& hub, transport::HttpEndpoint& endpoint, http::AccessRules rules, Tokens tokens);

  /// For a request whose body has not arrived yet: the refusal, if the request is refused whatever the body
  /// is.
  std::optional<http::Response> refuse_early(const http::Request& head);
  /// Answers at once or later.
  void handle(const http::Request& request, std::shared_ptr<http::Exchange> exchange);

 private:
  void dispatch(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                const http::Access& access);
  void answer_health(const http::Request& request, http::Exchange& exchange) const;
  void answer_readiness(const http::Request& request, http::Exchange& exchange,
                        const http::Access& access) const;
  const std::vector<http::Token>& tokens_for(const http::Request& request) const;

  Hub& hub_;
  HttpApi api_;
  transport::HttpEndpoint& endpoint_;
  const http::AccessRules rules_;
  const Tokens tokens_;
};

}  // namespace corral::daemon
