// What can be read of the daemon by URL: /api/v1/… as JSON, /metrics for Prometheus. docs/api.md describes
// it.
#pragma once

#include <memory>

#include "daemon/hub.h"
#include "http/access.h"
#include "http/exchange.h"

namespace corral::daemon {

class HttpApi {
 public:
  explicit HttpApi(Hub& hub) : hub_(hub) {}

  /// False if the path is none of ours. It shows all servers, so only who may use all of them may look.
  bool take(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
            const http::Principal& who);

 private:
  void answer(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange);
  void answer_events(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange);

  Hub& hub_;
};

}  // namespace corral::daemon
