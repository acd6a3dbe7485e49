// The read-only HTTP API: /api/v1/… as JSON, /metrics for Prometheus (docs/api.md). Access was checked
// before; this class only decides which clients may see all servers. Must be used on the loop's thread.
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
  /// Both must outlive this object.
  HttpApi(Snapshots& snapshots, Records& records) : snapshots_(snapshots), records_(records) {}

  static bool serves(std::string_view path);

  /// Answers a request for one of its paths, at once or later. The API shows all servers, so a token that is
  /// limited to some servers gets 403.
  void answer(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const http::Principal& who);

 private:
  void show(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
            const http::Principal& who);
  void show_metrics(const std::shared_ptr<http::Exchange>& exchange);
  void show_events(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                   const http::Principal& who);

  Snapshots& snapshots_;
  Records& records_;
};

}  // namespace corral::daemon
