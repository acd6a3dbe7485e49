#include "guard/leftovers.h"

#include <poll.h>

#include <algorithm>
#include <set>

namespace corral::guard {
namespace {

bool listed(const std::vector<Leftover>& list, const ProcessView& process) {
  return std::any_of(list.begin(), list.end(), [&](const Leftover& known) {
    return known.process.pid == process.pid && known.process.start_ticks == process.start_ticks;
  });
}

}  // namespace

Leftovers::Leftovers(const Graces& graces, std::vector<std::string> keep, GuardSignals& signals,
                     keeper::Report& report)
    : graces_(graces), selection_(std::move(keep)), signals_(signals), report_(report), sweep_(report) {
  // Without patterns no process in a group has to be spared: killing the outer process of a session is
  // harmless.
  sweep_.spare_if([](pid_t pid, void* selection) { return static_cast<Selection*>(selection)->spares(pid); },
                  &selection_,
                  selection_.has_patterns() ? keeper::Sweep::Aim::Processes : keeper::Sweep::Aim::Groups);
}

bool Leftovers::spare_present_children() {
  marked_ = sweep_.spare_present_children();
  if (marked_) sweep_.only({report_.instance, 0, kGuardVariable});
  return marked_;
}

void Leftovers::end() {
  const keeper::Micros began = keeper::now();
  bool empty = wait_for_leaving(graces_.settling);
  if (!empty) {
    selection_.spare_sessions = true;
    empty = end_all(graces_.term);
    selection_.spare_sessions = false;
    // Only sessions of `corral run` are left now. SIGKILL would interrupt the clean-up of their servers.
    if (empty && !reap())
      empty = wait_for_leaving(graces_.sessions) || end_all(graces_.term + graces_.sessions);
  }
  report_.proved_empty = empty;
  if (!empty) sweep_.list_survivors();
  write_down_kept();
  report_.kept = static_cast<std::uint32_t>(kept_.size());
  report_.end_took = keeper::now() - began;
}

bool Leftovers::wait_for_leaving(keeper::Micros at_most) {
  const keeper::Micros deadline = keeper::now() + at_most;
  bool empty = reap();
  // During exec a process briefly shows no mark. Where marks decide, one look is not enough.
  while ((!empty || marked_) && keeper::now() < deadline) {
    pause_for_a_death();
    empty = reap();
  }
  return empty;
}

bool Leftovers::end_all(keeper::Micros term_grace) {
  if (reap()) return true;
  write_down();
  const keeper::Micros deadline = keeper::now() + term_grace;
  bool empty = false;
  while (!empty && !in_haste_ && keeper::now() < deadline) {
    sweep_.terminate();
    pause_for_a_death();
    empty = reap();
  }
  if (empty) return true;
  write_down();  // some have lost their parents since and only now appear in the list
  return sweep_.kill_all(0, graces_.kill, keeper::Sweep::Record::Everybody);
}

/// Called before anything is signalled, because a process cannot be described afterwards.
void Leftovers::write_down() {
  const std::vector<ProcessView> below = everything_below_us();
  if (selection_.has_patterns()) selection_.look_again(below);
  const keeper::Mark mark{marked_ ? report_.instance : nullptr, 0, kGuardVariable};
  std::set<pid_t> spared;  // and everything below them
  for (const ProcessView& process : below) {
    const bool spare = spared.contains(process.parent) || !keeper::carries(process.pid, mark) ||
                       selection_.kept(process) || (selection_.spare_sessions && ends_by_itself(process.pid));
    if (spare) {
      spared.insert(process.pid);
    } else if (!listed(left_, process)) {
      left_.push_back({process, describe(process)});
    }
  }
}

void Leftovers::write_down_kept() {
  if (!selection_.has_patterns()) return;
  const std::vector<ProcessView> below = everything_below_us();
  selection_.look_again(below);
  const keeper::Mark mark{marked_ ? report_.instance : nullptr, 0, kGuardVariable};
  for (const ProcessView& process : below) {
    if (selection_.kept(process) && keeper::carries(process.pid, mark)) {
      kept_.push_back({process, describe(process)});
    }
  }
}

/// Waits for a death or a moment; also for a signal to guard, which means: hurry.
void Leftovers::pause_for_a_death() {
  pollfd wake{signals_.fd(), POLLIN, 0};
  constexpr int kMomentMs = 10;
  poll(&wake, 1, sweep_.more() ? 0 : kMomentMs);
  while (const auto info = signals_.next()) {
    const auto signo = static_cast<int>(info->ssi_signo);
    if (signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT) in_haste_ = true;
  }
}

}  // namespace corral::guard
