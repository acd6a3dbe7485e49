// Ends every session and every instance when the daemon shuts down, within a time limit. `DrainPlan` decides
// the next step; `Drain` carries it out, checks every few milliseconds what is left, and calls the waiting
// callbacks. Must be used on the loop's thread; the hub owns it together with everything that it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/loop.h"
#include "daemon/connected_sessions.h"
#include "daemon/owned_sessions.h"
#include "pool/pool.h"

namespace corral::daemon {

/// Decides the next step: wait for calls in flight, then end every session, then every instance. A second
/// request hurries each step. Pure: it is given the time and what is left, and refers to nothing else.
class DrainPlan {
 public:
  enum class Phase : std::uint8_t {
    NotBegun,
    WaitingForCalls,
    Ending,  // sessions and instances were told to end
    Over,
  };
  enum class Step : std::uint8_t {
    Wait,         // check again later
    EndSessions,  // then call `next` again at once
    Hurry,        // end the instances without grace periods; then wait
    Finish,       // nothing is left
    GiveUp,       // something is left, but the time is up
  };
  /// What is left at one moment.
  struct Left {
    bool calls = false;
    bool sessions = false;
    bool instances = false;
  };

  /// After the sessions were told to end, in addition to the configured grace periods: the kernel needs time
  /// to end killed processes.
  static constexpr std::chrono::seconds kLastPatience{8};

  /// `patience` is how long calls in flight may take.
  void begin(Clock::time_point now, Clock::duration patience);
  /// A second request: the next step waits neither for calls nor for the grace periods of instances.
  void hurry() { hurried_ = true; }
  void cancel_hurry() { hurried_ = false; }

  /// Returns what to do now, and changes the phase accordingly.
  Step next(Clock::time_point now, const Left& left);

  Phase phase() const { return phase_; }

 private:
  Phase phase_ = Phase::NotBegun;
  bool hurried_ = false;
  Clock::time_point until_{};  // the end of the current phase
};

/// What was open when the drain began.
struct Drained {
  std::size_t sessions = 0;
  std::size_t instances = 0;
};

class Drain {
 public:
  using Done = std::function<void(const Drained&)>;

  /// All arguments must outlive this object.
  Drain(Loop& loop, ConnectedSessions& sessions, OwnedSessions& owned, pool::Pool& pool);

  /// `patience` is how long calls in flight may take. `done` is called when nothing is left or the time is
  /// up, possibly before this returns. A second call while the drain runs hurries it.
  void run(Clock::duration patience, Done done);
  /// The last call of `run` belonged to the first request and must not hurry.
  void cancel_hurry() { plan_.cancel_hurry(); }

  /// True from the first call of `run` on: no new session is accepted.
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
