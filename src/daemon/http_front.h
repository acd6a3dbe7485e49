// What is done with a request: who may come in, and where it goes. One for every door.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/http_api.h"
#include "daemon/hub.h"
#include "http/access.h"
#include "http/exchange.h"
#include "transport/http_endpoint.h"

namespace corral::daemon {

class HttpFront {
 public:
  using Tokens = std::function<const std::vector<http::Token>&()>;

  HttpFront(Hub& hub, transport::HttpEndpoint& endpoint, http::AccessRules rules, Tokens tokens);

  /// Of a request whose body is still to come: the answer, if it is refused whatever the body says.
  std::optional<http::Response> refuse_early(const http::Request& head);
  void take(const http::Request& request, std::shared_ptr<http::Exchange> exchange);

 private:
  void dispatch(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                const http::Access& access);
  const std::vector<http::Token>& tokens_for(const http::Request& request) const;

  Hub& hub_;
  HttpApi api_;
  transport::HttpEndpoint& endpoint_;
  const http::AccessRules rules_;
  const Tokens tokens_;
};

}  // namespace corral::daemon
