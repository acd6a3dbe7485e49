#include "base/clock.h"

#include <ctime>

namespace corral {

Clock::time_point Clock::coarse_now() noexcept {
  if (held != nullptr) return *held;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace corral
