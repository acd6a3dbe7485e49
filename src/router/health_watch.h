// Watches whether a silent server still answers. instance/health.h decides what silence means; this part has
// the timer, sends the probes and reports a server that hangs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/id.h"
#include "base/loop.h"
#include "instance/health.h"
#include "router/learner.h"
#include "router/router_options.h"

namespace corral::router {

class HealthWatch {
 public:
  /// What the watch asks of the router. All are called from the timer.
  struct Server {
    std::function<bool()> busy;              // it has calls to answer, does not read, or is not read
    std::function<CallId()> send_probe;      // returns the id of the probe
    std::function<void(CallId)> drop_probe;  // its answer is no longer expected
    std::function<void()> hung;              // the last call: the watch has stopped
  };

  HealthWatch(Loop& loop, const RouterOptions& options, RouterCounters& counters, Learner& learner,
              Server server);

  /// The server is open. Does nothing if the options say that it is never probed.
  void start();
  /// The server ends, or is lost.
  void stop() { timer_.cancel(); }

  /// The server sent a message, of whatever kind.
  void message_received() { ++messages_; }
  /// The server answered a probe.
  void answered();
  /// The same, but the answer was not readable: that it answers is known, but not passed on to the learner.
  void answered_unreadably() { health_->answered(); }

  /// The server missed a probe that it should have answered.
  bool unhealthy() const { return health_ && health_->unhealthy(); }

 private:
  void look();

  const RouterOptions& options_;
  RouterCounters& counters_;
  Learner& learner_;
  Server server_;
  Timer timer_;
  std::optional<instance::Health> health_;  // from `start` on
  std::uint64_t messages_ = 0;
  CallId probe_;  // the last one
};

}  // namespace corral::router
