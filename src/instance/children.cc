#include "instance/children.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/log.h"
#include "keeper/keepers_below.h"
#include "keeper/proc_fs.h"
#include "keeper/sweep.h"

namespace corral::instance {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::seconds kNestedFinish{5};  // for each keeper of a corral inside the tree
constexpr int kMostReaped = 256;                  // in one turn of the loop

int death_fd() {
  sigset_t deaths;
  sigemptyset(&deaths);
  sigaddset(&deaths, SIGCHLD);
  sigprocmask(SIG_BLOCK, &deaths, nullptr);
  return signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

Children::Children(Loop& loop) : deaths_(death_fd()), watch_(loop, deaths_.get()), again_(loop) {
  keeper::become_subreaper();
  wait_for_deaths();
}

void Children::wait_for_deaths() {
  watch_.when_readable([this] {
    signalfd_siginfo info{};
    while (read(deaths_.get(), &info, sizeof info) == sizeof info) {
    }
    if (reap()) end_orphans();
    wait_for_deaths();
  });
}

/// Only this function reaps, so a pid that is about to be signalled cannot have been reused in between.
bool Children::reap() {
  bool keeper_died = false;
  for (int i = 0; i < kMostReaped; ++i) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return keeper_died;
    if (WIFSTOPPED(status)) {  // its server may have stopped it; a keeper must run to see the end
      if (keepers_.contains(pid)) kill(pid, SIGCONT);
      continue;
    }
    nested_.forget(pid);
    const auto keeper = keepers_.extract(pid);
    if (keeper.empty()) continue;
    keeper_died = true;
    if (keeper.mapped()) keeper.mapped()(status);
  }
  kill(getpid(), SIGCHLD);  // there may be more: wakes the loop again
  return keeper_died;
}

void Children::end_orphans_of(pid_t keeper, Done done) {
  waiting_.add(keeper, std::move(done), Clock::now() + kPatience);
  end_orphans();
}

void Children::end_orphans() {
  const Clock::time_point now = Clock::now();
  give_up_ = now + kPatience;
  nested_.expect(now);
  look_again();
}

void Children::look_again() {
  reap();
  const std::size_t left = kill_orphans();
  const Clock::time_point now = Clock::now();
  std::vector<Done> proved;
  if (left == 0) proved = waiting_.take_proved([this](pid_t keeper) { return is_reaped(keeper); });
  const std::vector<Done> overdue = waiting_.take_overdue(now);
  const bool resting = waiting_.empty() && (left == 0 || now > give_up_);
  if (left > 0 && (!overdue.empty() || resting)) {
    log_line("could not end " + std::to_string(left) + " processes of a killed keeper; see `corral doctor`");
  }
  if (!resting) again_.start(kBetweenLooks, [this] { look_again(); });
  for (const Done& task : proved) task(Tree::ProvedGone);
  for (const Done& task : overdue) task(Tree::Overdue);
}

/// Before a keeper is reaped the daemon does not have its tree, so seeing no orphan proves nothing.
bool Children::is_reaped(pid_t keeper) const {
  return !keepers_.contains(keeper) || (kill(keeper, 0) != 0 && errno == ESRCH);
}

/// The daemon's children are keepers or orphans; it starts nothing else. Nested keepers end their own trees
/// and run their terminators. A keeper may have seen that its owner is gone; the janitor of a daemon has no
/// reason to end until it is asked. Each is asked once, because a second request would shorten its time.
std::size_t Children::kill_orphans() {
  static std::array<pid_t, 8192> pids;
  const std::size_t count = keeper::newest_children(pids);
  std::size_t orphans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t pid = pids[i];
    if (keepers_.contains(pid)) continue;
    ++orphans;
    const bool nested = keeper::is_keeper(pid, {});
    switch (nested ? nested_.turn_of(pid, Clock::now()) : NestedKeepers::Turn::Kill) {
      case NestedKeepers::Turn::Ask:
        kill(pid, SIGTERM);
        kill(pid, SIGCONT);
        break;
      case NestedKeepers::Turn::Wait: break;
      case NestedKeepers::Turn::Kill: kill(pid, SIGKILL); break;
    }
  }
  return orphans;
}

void NestedKeepers::expect(Clock::time_point now) { expected_until_ = now + kNestedFinish; }

NestedKeepers::Turn NestedKeepers::turn_of(pid_t keeper, Clock::time_point now) {
  if (now >= expected_until_ && !seen_.contains(keeper)) return Turn::Kill;
  const auto [seen, is_new] = seen_.emplace(keeper, now);
  if (is_new) return Turn::Ask;
  return now < seen->second + kNestedFinish ? Turn::Wait : Turn::Kill;
}

void WaitingForOrphans::add(pid_t keeper, Done done, Clock::time_point until) {
  waiting_.push_back({keeper, std::move(done), until});
}

template <class Over>
std::vector<WaitingForOrphans::Done> WaitingForOrphans::take(Over over) {
  std::vector<Done> taken;
  std::erase_if(waiting_, [&](Waiting& one) {
    const bool is_over = over(one);
    if (is_over) taken.push_back(std::move(one.done));
    return is_over;
  });
  return taken;
}

std::vector<WaitingForOrphans::Done> WaitingForOrphans::take_proved(
    const std::function<bool(pid_t)>& reaped) {
  return take([&reaped](const Waiting& one) { return reaped(one.keeper); });
}

std::vector<WaitingForOrphans::Done> WaitingForOrphans::take_overdue(Clock::time_point now) {
  return take([now](const Waiting& one) { return now >= one.until; });
}

}  // namespace corral::instance
