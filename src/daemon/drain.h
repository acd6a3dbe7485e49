// Ends every session and every instance when the daemon shuts down, within bounds. Carries out what
// `DrainPlan` decides, looks every few milliseconds what is left, and tells those who wait. Belongs to the
// loop thread; the hub owns it together with everything that it ends.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/loop.h"
#include "daemon/connected_sessions.h"
#include "daemon/drain_plan.h"
#include "daemon/owned_sessions.h"
#include "pool/pool.h"

namespace corral::daemon {

/// What was open when the drain began.
struct Drained {
  std::size_t sessions = 0;
  std::size_t instances = 0;
};

class Drain {
 public:
  using Done = std::function<void(const Drained&)>;

  /// All outlive it.
  Drain(Loop& loop, ConnectedSessions& sessions, OwnedSessions& owned, pool::Pool& pool);

  /// `patience` is how long calls in flight may take. `done` is called when nothing is left or the bound is
  /// reached, perhaps before this returns. A second call while it runs hurries it.
  void run(Clock::duration patience, Done done);
  /// The last call of `run` was part of the first request, not a second one.
  void cancel_hurry() { plan_.cancel_hurry(); }

  /// From the first call of `run` on: no new session is accepted.
  bool begun() const { return plan_.phase() != DrainPlan::Phase::NotBegun; }

 private:
  void step();
  void end_sessions();
  DrainPlan::Left left() const;

  ConnectedSessions& sessions_;
  OwnedSessions& owned_;
  pool::Pool& pool_;
  DrainPlan plan_;
  Timer timer_;
  Drained drained_;
  std::vector<Done> waiting_;
};

}  // namespace corral::daemon
