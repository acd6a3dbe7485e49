#include "one_core.h"

#include <cerrno>
#include <system_error>

namespace corral::bench {
namespace {

void check(int result) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), "cpu affinity");
}

}  // namespace

OneCore::OneCore(bool pin) : pinned_(pin) {
  if (!pinned_) return;
  check(sched_getaffinity(0, sizeof before_, &before_));
  cpu_set_t one;
  CPU_ZERO(&one);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before_)) last = cpu;
  }
  CPU_SET(last, &one);
  check(sched_setaffinity(0, sizeof one, &one));
}

OneCore::~OneCore() {
  if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace corral::bench
