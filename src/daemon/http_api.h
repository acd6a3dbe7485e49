// What can be read of the daemon by HTTP: /api/v1/… as JSON, /metrics for Prometheus. docs/api.md describes
// it. Access was checked before; here is decided only who may see all servers. Belongs to the loop thread.
#pragma once

#include <memory>
#include <string_view>

#include "daemon/records.h"
#include "daemon/snapshots.h"
#include "http/access.h"
#include "http/exchange.h"

namespace corral::daemon {

class HttpApi {
 public:
  /// Both outlive it.
  HttpApi(Snapshots& snapshots, Records& records) : snapshots_(snapshots), records_(records) {}

  static bool serves(std::string_view path);

  /// Answers a request for a path that it serves, at once or later. The API shows all servers, so a token
  /// that is limited to some gets 403.
  void answer(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const http::Principal& who);

 private:
  void show(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange);
  void show_metrics(const std::shared_ptr<http::Exchange>& exchange);
  void show_events(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange);

  Snapshots& snapshots_;
  Records& records_;
};

}  // namespace corral::daemon
