#include "keeper/watchdog.h"

#include <algorithm>

#include "keeper/proc_fs.h"

namespace corral::keeper {
namespace {

pid_t tree[8192];

}  // namespace

LimitWatchdog::LimitWatchdog(const PlanHeader& plan, Report& report)
    : report_(report), counts_init_(plan.pid_namespace != 0) {
  add_limit(LimitName::Memory, plan.memory);
  add_limit(LimitName::Pids, plan.pids);
  add_limit(LimitName::Cpu, plan.cpu);
}

bool LimitWatchdog::exceeded(pid_t root) {
  const std::size_t count = descendants(root, tree);
  bool over = false;
  for (std::uint32_t i = 0; i < report_.limits; ++i) {
    LimitState& limit = report_.limit[i];
    if (limit.by != Enforcer::Watchdog) continue;
    std::uint64_t seen = 0;
    if (limit.name == LimitName::Pids) {
      seen = count - (counts_init_ && count > 0 ? 1 : 0);
    } else {
      for (std::size_t at = 0; at < count; ++at) seen += memory_of(tree[at]);
    }
    limit.seen = std::max(limit.seen, seen);
    limit.exceeded |= seen > limit.limit;
    over |= limit.exceeded;
  }
  return over;
}

void LimitWatchdog::take_over() {
  for (std::uint32_t i = 0; i < report_.limits; ++i) {
    LimitState& limit = report_.limit[i];
    if (limit.by != Enforcer::Cgroup) continue;
    limit.by = limit.name == LimitName::Cpu ? Enforcer::None : Enforcer::Watchdog;
    watching_ |= limit.by == Enforcer::Watchdog;
  }
}

void LimitWatchdog::add_limit(LimitName name, const PlanLimit& limit) {
  if (limit.value == 0) return;
  report_.limit[report_.limits++] = {name, limit.by, false, limit.value, 0};
  watching_ |= limit.by == Enforcer::Watchdog;
}

}  // namespace corral::keeper
