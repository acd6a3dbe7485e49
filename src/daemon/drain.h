// Ends every session and every instance when the daemon shuts down, within bounds. Carries out what
// `DrainPlan` decides, looks every few milliseconds what is left, and tells those who wait. Belongs to the
// loop thread; the hub owns it together with everything that it ends.
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

/// Decides what comes next: calls in flight get their time, then every session ends, then every instance. A
/// second request makes all of it faster. Pure: it is given the time and what is left, and refers to nothing
/// else.
class DrainPlan {
 public:
  enum class Phase : std::uint8_t {
    NotBegun,
    WaitingForCalls,
    Ending,  // sessions and instances were told to end
    Over,
  };
  enum class Step : std::uint8_t {
    Wait,         // look again later
    EndSessions,  // then ask again at once
    Hurry,        // end the instances without their graces; then wait
    Finish,       // nothing is left
    GiveUp,       // something is left, and its time is over
  };
  /// What is left at one moment.
  struct Left {
    bool calls = false;
    bool sessions = false;
    bool instances = false;
  };

  /// After the sessions were told to end, beyond the configured graces: the kernel must finish with what was
  /// killed.
  static constexpr std::chrono::seconds kLastPatience{8};

  /// `patience` is how long calls in flight may take.
  void begin(Clock::time_point now, Clock::duration patience);
  /// Somebody has asked a second time: the next step does not wait for calls, or for the graces of instances.
  void hurry() { hurried_ = true; }
  void cancel_hurry() { hurried_ = false; }

  /// What to do now. Moves on to the next phase where the step says so.
  Step next(Clock::time_point now, const Left& left);

  Phase phase() const { return phase_; }

 private:
  Phase phase_ = Phase::NotBegun;
  bool hurried_ = false;
  Clock::time_point until_{};  // of the present phase
};

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
