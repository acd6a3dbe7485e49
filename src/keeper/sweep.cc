#include "keeper/sweep.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "keeper/proc_fs.h"

namespace corral::keeper {
namespace {

// One pass sees this many children; the next pass sees the rest. Static, because the helper has a small stack
// and no heap. No function may keep using it across a call to another function of this file.
pid_t seen_children[8192];

/// A group that was created inside the tree: neither our own nor one of our session. Killing it as a whole is
/// safe while one of its members is our unreaped child, and it cannot race with a fork.
pid_t foreign_group(pid_t child) {
  const pid_t group = getpgid(child);
  if (group <= 1 || group == getpgrp()) return 0;
  const pid_t session = getsid(child);
  return session > 0 && session != getsid(0) ? group : 0;
}

/// A zombie needs no signal. There can be many more zombies than running processes, and this is the cheapest
/// check.
bool is_dead(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/// Sleeps until a child dies. A busy loop would take CPU time from the processes that are exiting.
void await_death(Micros at_most) {
  sigset_t deaths;
  sigemptyset(&deaths);
  sigaddset(&deaths, SIGCHLD);
  const timespec timeout{at_most.count() / 1'000'000, at_most.count() % 1'000'000 * 1000};
  sigtimedwait(&deaths, nullptr, &timeout);
}

Cause cause_of(pid_t pid) {
  if (kill(pid, SIGKILL) != 0 && errno == EPERM) return Cause::Permission;
  StatLine line;
  return read_stat(pid, line) && line.state == 'D' ? Cause::Uninterruptible : Cause::Unknown;
}

}  // namespace

bool become_subreaper() { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

bool Sweep::spare_present_children() {
  spared_count_ = own_children(std::span(spared_, kMostSpared));
  return spared_count_ > 0;
}

void Sweep::terminate() {
  for (std::size_t i = newest_children(seen_children); i-- > 0;) {  // the server is the oldest
    const pid_t child = seen_children[i];
    if (is_dead(child) || spared(child)) continue;
    const pid_t group = group_to_signal(child);
    if (!newly_terminated(group != 0 ? group : child)) continue;
    const pid_t target = group != 0 ? -group : child;
    kill(target, SIGTERM);
    kill(target, SIGCONT);
  }
}

bool Sweep::reap(pid_t leader, Record record) {
  more_ = false;
  const Micros until = now() + kReapTime;
  bool none_left = false;
  for (int reaped = 0; reaped < kMostReaped && now() < until; ++reaped) {
    if (!reap_one(leader, record, none_left)) return none_left || only_spared_left();
  }
  more_ = true;
  return false;
}

/// Returns false if no child is dead; `none_left` says whether any child is alive.
bool Sweep::reap_one(pid_t leader, Record record, bool& none_left) {
  const bool recording = record == Record::Everybody;
  pid_t dead = -1;
  char comm[16] = "";
  // Looks before reaping, because a zombie still has its name and a reaped process does not. Skipped once the
  // list is full.
  if (recording && report_.ended_listed < kListedProcesses) {
    siginfo_t info{};
    none_left = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    if (info.si_pid == 0) return false;
    dead = info.si_pid;
    read_comm(dead, comm);
  }
  int status = 0;
  const pid_t pid = waitpid(dead, &status, WNOHANG);
  if (pid <= 0) {
    none_left = pid < 0 && errno == ECHILD;
    return false;
  }
  if (forget_spared(pid)) return true;
  if (pid == leader) {
    report_.server_status = status;
    report_.server_status_known = true;
  }
  if (recording) record_ended(report_, pid, comm, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return true;
}

bool Sweep::kill_all(pid_t leader, Micros patience, Record record) {
  constexpr int kReapsPerPass = 16;  // a pass is expensive while there are many dead children
  const Micros deadline = now() + patience;
  for (;;) {
    kill_pass(deadline);
    for (int i = 0; i < kReapsPerPass && (i == 0 || more_); ++i) {
      if (reap(leader, record)) return true;
    }
    if (now() >= deadline) return false;
    if (!more_) await_death(Micros(2000));
  }
}

void Sweep::list_survivors() {
  report_.survivors = 0;
  const std::size_t count = own_children(seen_children);
  for (std::size_t i = 0; i < count && report_.survivors < kListedSurvivors; ++i) {
    const pid_t child = seen_children[i];
    if (spared(child)) continue;
    Survivor& survivor = report_.survivor[report_.survivors++];
    survivor.pid = child;
    survivor.uid = read_uid(child);
    survivor.cause = cause_of(child);
    read_comm(child, survivor.comm);
  }
}

void Sweep::kill_except(bool (*spares)(pid_t pid, void* context), void* context) {
  const std::size_t count = newest_children(seen_children);
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t child = seen_children[i];
    if (!is_dead(child) && !spared(child) && !spares(child, context)) kill(child, SIGKILL);
  }
}

/// Visits all children, however many are dead: a process that forks to change its pid reappears at the end of
/// the list. As long as none is reaped, a full process table prevents the living ones from forking.
void Sweep::kill_pass(Micros deadline) {
  constexpr Micros kShortest{100'000};  // even with no time left, one pass is always made
  const Micros soon = now() + kShortest;
  pass_until_ = deadline > soon ? deadline : soon;
  last_group_ = 0;
  visit_children([](pid_t child, void* self) { return static_cast<Sweep*>(self)->kill_if_alive(child); },
                 this);
}

/// Returns false once the time for the pass is over.
bool Sweep::kill_if_alive(pid_t child) {
  if (is_dead(child)) return true;
  if (!spared(child)) {
    const pid_t group = group_to_signal(child);
    if (group != 0 && group != last_group_) kill(-group, SIGKILL);
    last_group_ = group;
    kill(child, SIGKILL);
  }
  return now() < pass_until_;
}

pid_t Sweep::group_to_signal(pid_t child) const { return aim_ == Aim::Groups ? foreign_group(child) : 0; }

bool Sweep::newly_terminated(pid_t group) {
  for (std::size_t i = 0; i < terminated_count_; ++i) {
    if (terminated_[i] == group) return false;
  }
  if (terminated_count_ == kMostGroups) return false;  // a storm; it is killed when the grace is over
  terminated_[terminated_count_++] = group;
  return true;
}

bool Sweep::only_spared_left() const {
  if (spared_count_ == 0 && mark_.instance == nullptr && spares_ == nullptr) return false;
  const std::size_t count = own_children(seen_children);
  for (std::size_t i = 0; i < count; ++i) {
    if (!spared(seen_children[i])) return false;
  }
  return true;
}

bool Sweep::forget_spared(pid_t pid) {
  for (std::size_t i = 0; i < spared_count_; ++i) {
    if (spared_[i] != pid) continue;
    spared_[i] = spared_[--spared_count_];
    return true;
  }
  return false;
}

bool Sweep::spared(pid_t pid) const {
  for (std::size_t i = 0; i < spared_count_; ++i) {
    if (spared_[i] == pid) return true;
  }
  return !carries(pid, mark_) || (spares_ != nullptr && spares_(pid, context_));
}

}  // namespace corral::keeper
