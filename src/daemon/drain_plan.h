// Decides what comes next while the daemon shuts down: calls in flight get their time, then every session
// ends, then every instance, and if somebody asks again all of it goes faster. Pure: it is told the time and
// what is left, and holds no reference to anything. `Drain` carries out what it says.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace corral::daemon {

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

}  // namespace corral::daemon
