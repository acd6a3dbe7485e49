// The daemon's monotonic clock. Every deadline and every age is measured with it, so a test that holds the
// clock decides how much time passes, and a slow machine does not change the result. `now` and `coarse_now`
// may be called on any thread while the clock is not held.
#pragma once

#include <chrono>

namespace corral {

class Clock {
 public:
  using Source = std::chrono::steady_clock;
  // NOLINTBEGIN(readability-identifier-naming): names that the standard requires of a clock
  using rep = Source::rep;
  using period = Source::period;
  using duration = Source::duration;
  using time_point = Source::time_point;
  static constexpr bool is_steady = true;
  // NOLINTEND(readability-identifier-naming)

  static time_point now() noexcept { return held != nullptr ? *held : Source::now(); }

  /// The time of the kernel's last tick: up to a few milliseconds old, and much cheaper to read than `now`.
  static time_point coarse_now() noexcept;

  /// For tests: `now` returns `*time` until `hold(nullptr)` restores the machine's clock. The caller keeps
  /// `*time` alive until then, and no other thread may use the clock in between.
  static void hold(const time_point* time) noexcept { held = time; }

 private:
  static inline const time_point* held = nullptr;
};

}  // namespace corral
