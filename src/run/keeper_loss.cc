#include "run/keeper_loss.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "base/files.h"
#include "keeper/cgroup_files.h"
#include "keeper/keepers_below.h"
#include "keeper/kernel.h"
#include "keeper/launch.h"
#include "keeper/plan.h"
#include "keeper/proc_fs.h"
#include "keeper/terminator.h"
#include "keeper/watchdog.h"
#include "proc/plan_bytes.h"

namespace corral::run {
namespace {

constexpr std::size_t kMostLooked = 8192;  // the sweep also handles this many per pass
constexpr std::size_t kMostInside = 1024;
constexpr auto kEverybody = keeper::Sweep::Record::Everybody;

bool is_keeper(pid_t pid, void* /*context*/) { return keeper::is_keeper(pid, {}); }

/// The instance id in a keeper's environment; empty if it cannot be read.
std::string instance_of(pid_t keeper) {
  constexpr std::string_view kVariable = "CORRAL_INSTANCE=";
  const std::string environment = read_text("/proc/" + std::to_string(keeper) + "/environ");
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view variable(environment.data() + at, end - at);
    if (variable.starts_with(kVariable)) return std::string(variable.substr(kVariable.size()));
    at = end + 1;
  }
  return {};
}

/// A tag that another keeper chose: inside our tree it is always lower than ours, elsewhere it may be.
bool carries_another_tag(pid_t pid, std::uint64_t ours) {
  rlimit limit{};
  return prlimit(pid, RLIMIT_RTTIME, nullptr, &limit) == 0 && limit.rlim_max >= keeper::kSmallestTag &&
         limit.rlim_max < ours;
}

void pause_for(long ms) {
  const timespec pause{0, ms * 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

void KeeperLoss::finish(const proc::ProcessTree& tree, int report_fd) {
  std::vector<char*> pointers;
  const keeper::Plan plan = proc::read_plan(tree.plan(), pointers);
  const keeper::Micros began = keeper::now();
  memcpy(report_.instance, plan.header.instance, sizeof report_.instance);
  rlimit_tag_ = plan.header.rlimit_tag;
  report_.reason = keeper::Reason::KeeperLost;
  report_.level = {*plan.cgroup != '\0', plan.header.pid_namespace != 0};

  const keeper::LimitWatchdog limits(
      plan.header, report_);  // adds the limits to the report; the measurements were lost with the keeper
  if (had_children_) sweep_.spare_if(spares_strangers, this, keeper::Sweep::Aim::Groups);
  report_.proved_empty = end_tree(plan, began);
  if (!report_.proved_empty) sweep_.list_survivors();
  if (had_children_) doubt_remaining_children();
  report_.end_took = keeper::now() - began;
  report_.uptime = keeper::now() - started_;
  keeper::remove_cgroup(plan.cgroup);
  setenv("CORRAL_INSTANCE", tree.instance().c_str(), 1);
  keeper::run_terminators(plan, sweep_, report_);
  if (report_fd >= 0) keeper::write_report(report_fd, report_);
}

/// Returns true once nothing of the tree is left. If there were children before, ECHILD never comes, and a
/// list of children may miss one that is being adopted at that moment; so two checks, a little apart, must
/// find none.
bool KeeperLoss::end_tree(const keeper::Plan& plan, keeper::Micros began) {
  CleanLooks looks(had_children_ ? CleanLooks::kWithoutProof : CleanLooks::kByProof);
  const keeper::Micros ask_until = began + plan.header.graces.hasty;
  const keeper::Micros yield_until = ask_until + plan.header.graces.nested;
  std::optional<keeper::Micros> kill_until;
  using Look = CleanLooks::Look;
  const auto look = [this] { return sweep_.reap(0, kEverybody) ? Look::Clean : Look::FoundSome; };
  for (learn_instances(); !looks.enough(look()); learn_instances()) {
    if (looks.last_was_clean()) {
      pause_for(20);
      continue;
    }
    const bool asking = keeper::now() < ask_until;
    const bool yielding = keeper::now() < yield_until && keeper::any_keeper_below(getpid(), {});
    if (!asking && !yielding) {
      if (!kill_until) kill_until = keeper::now() + plan.header.graces.kill;
      if (!kill_rest(plan, *kill_until)) return false;
      continue;
    }
    sweep_.terminate();
    if (!asking) sweep_.kill_except(is_keeper, nullptr);
    if (!sweep_.more()) pause_for(asking ? 5 : 20);
  }
  return true;
}

/// Returns false if processes are left when the time is over.
bool KeeperLoss::kill_rest(const keeper::Plan& plan, keeper::Micros until) {
  const keeper::Micros left = until - keeper::now();
  if (left <= keeper::Micros{0}) return false;
  keeper::kill_cgroup(plan.cgroup);
  return sweep_.kill_all(0, left, kEverybody);
}

/// If we had children before, their orphans become ours too, and only the marks distinguish them.
bool KeeperLoss::spares_strangers(pid_t pid, void* self) {
  return !static_cast<const KeeperLoss*>(self)->is_ours(pid);
}

bool KeeperLoss::is_ours(pid_t pid) const {
  return keeper::carries(pid, {report_.instance, rlimit_tag_}) ||
         std::any_of(inside_.begin(), inside_.end(), [pid](const std::string& instance) {
           return keeper::carries(pid, {instance.c_str(), 0});
         });
}

/// A corral inside the tree gives its servers its own marks. Its keepers are below one of our processes and
/// carry the instance ids.
void KeeperLoss::learn_instances() {
  if (!had_children_) return;
  std::vector<pid_t> children(kMostLooked);
  children.resize(keeper::own_children(children));
  std::vector<pid_t> below;
  for (const pid_t child : children) {
    if (!is_ours(child)) continue;
    below.resize(kMostLooked);
    below.resize(keeper::descendants(child, below));
    below.push_back(child);
    for (const pid_t pid : below) {
      if (inside_.size() >= kMostInside || !keeper::is_keeper(pid, {})) continue;
      std::string instance = instance_of(pid);
      const bool known = std::find(inside_.begin(), inside_.end(), instance) != inside_.end();
      if (!instance.empty() && !known) inside_.push_back(std::move(instance));
    }
  }
}

/// A server of a corral inside the tree whose keeper was gone before we could read its id. It may also be a
/// foreign process, so it is left alone; but then nothing is proved.
void KeeperLoss::doubt_remaining_children() {
  std::vector<pid_t> children(kMostLooked);
  children.resize(keeper::own_children(children));
  for (const pid_t child : children) {
    if (is_ours(child) || !carries_another_tag(child, rlimit_tag_)) continue;
    report_.proved_empty = false;
    if (report_.survivors == keeper::kListedSurvivors) return;
    keeper::Survivor& survivor = report_.survivor[report_.survivors++];
    survivor.pid = child;
    survivor.uid = keeper::read_uid(child);
    survivor.cause = keeper::Cause::Unknown;
    keeper::read_comm(child, survivor.comm);
  }
}

std::string KeeperLoss::executable(const proc::ProcessTree& tree) {
  std::vector<char*> pointers;
  return proc::read_plan(tree.plan(), pointers).executable;
}

}  // namespace corral::run
