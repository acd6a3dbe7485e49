// Work that takes the thread's time, for tests of who notices it.
#pragma once

#include <chrono>
#include <ctime>

namespace corral::tests {

inline std::chrono::nanoseconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Returns when this thread has used so much of the processor's time, however long that takes.
inline void burn(std::chrono::nanoseconds time) {
  const std::chrono::nanoseconds begin = thread_time();
  while (thread_time() - begin < time) continue;
}

}  // namespace corral::tests
