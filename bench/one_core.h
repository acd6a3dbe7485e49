// Pins this process, and with it everything that it starts meanwhile, to one core: what is measured is then
// the length of the path, and not where the scheduler happened to put things.
#pragma once

#include <sched.h>

namespace corral::bench {

class OneCore {
 public:
  /// Does nothing without `pin`. Throws std::system_error if it can't be had.
  explicit OneCore(bool pin);
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore();

 private:
  bool pinned_;
  cpu_set_t before_;
};

}  // namespace corral::bench
