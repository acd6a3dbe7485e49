// Time that passes only when a test says so.
#pragma once

#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace corral::tests {

/// Holds the clock from its beginning to its end. One at a time; declared before everything that has timers.
class HeldClock {
 public:
  HeldClock() {
    if (std::exchange(held_, true)) std::abort();
    Clock::hold(&time_);
  }
  ~HeldClock() {
    Clock::hold(nullptr);
    held_ = false;
  }
  HeldClock(const HeldClock&) = delete;

  void pass(Clock::duration time) { time_ += time; }

 private:
  static inline bool held_ = false;
  Clock::time_point time_ = Clock::now();
};

}  // namespace corral::tests
