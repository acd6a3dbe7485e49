// The clock of the daemon: it only goes forward. Every deadline and every age is measured with it, so a test
// that holds it decides how much time passes, and a slow machine changes nothing.
#pragma once

#include <chrono>

namespace corral {

class Clock {
 public:
  using Source = std::chrono::steady_clock;
  // NOLINTBEGIN(readability-identifier-naming): what the standard asks of a clock
  using rep = Source::rep;
  using period = Source::period;
  using duration = Source::duration;
  using time_point = Source::time_point;
  static constexpr bool is_steady = true;
  // NOLINTEND(readability-identifier-naming)

  static time_point now() noexcept { return held != nullptr ? *held : Source::now(); }

  /// The time at the last tick of the kernel, a few milliseconds ago, and much cheaper than the exact time.
  static time_point coarse_now() noexcept;

  /// For tests: from now on the time is what `time` says, and the machine's own again after nullptr. The
  /// caller keeps `time` until then, and no other thread may use the clock meanwhile.
  static void hold(const time_point* time) noexcept { held = time; }

 private:
  static inline const time_point* held = nullptr;
};

}  // namespace corral
