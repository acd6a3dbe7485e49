#include "proc/open_files.h"

#include <sys/resource.h>

#include <mutex>

namespace corral::proc {
namespace {

std::mutex changing;
int raised = 0;            // number of living MoreOpenFiles; guarded by `changing`
rlim_t before_raised = 0;  // the limit to restore after the last of them; guarded by `changing`

rlimit current() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

bool set_soft(rlim_t soft) {
  const rlimit limit{soft, current().rlim_max};
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

std::uint64_t soft_open_files() { return current().rlim_cur; }

MoreOpenFiles::MoreOpenFiles() {
  const std::lock_guard lock(changing);
  const rlimit limit = current();
  most_ = limit.rlim_max;
  if (raised++ > 0) return;
  before_raised = limit.rlim_cur;
  set_soft(limit.rlim_max);
}

MoreOpenFiles::~MoreOpenFiles() {
  const std::lock_guard lock(changing);
  if (--raised == 0) set_soft(before_raised);
}

}  // namespace corral::proc
