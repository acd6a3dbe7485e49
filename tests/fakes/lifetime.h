// Every process that a fake makes ends by itself, even when it is stopped, daemonised or ignores every signal
// that can be ignored. A test that goes wrong can therefore leave nothing behind for long.
#pragma once

#include <time.h>

namespace corral::fakes {

// An absolute moment on CLOCK_MONOTONIC, so that it means the same in every descendant.
struct Deadline {
  timespec at{};

  static Deadline in_seconds(long seconds);
  bool passed() const;
};

// Asks the kernel to SIGKILL this process at the deadline. Neither fork nor exec keeps it: call
// it again after both.
void end_by_itself(const Deadline& deadline);

[[noreturn]] void idle_for_ever();

void sleep_ms(long ms);

}  // namespace corral::fakes
