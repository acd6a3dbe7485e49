#include "server/children.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/log.h"
#include "keeper/proc_fs.h"
#include "keeper/sweep.h"

namespace corral::server {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::seconds kPatience{10};

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

/// One place reaps, so a number that we are about to signal cannot have gone to somebody else meanwhile.
bool Children::reap() {
  bool keeper_died = false;
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return keeper_died;
    const auto keeper = keepers_.extract(pid);
    if (keeper.empty()) continue;
    keeper_died = true;
    if (keeper.mapped()) keeper.mapped()(status);
  }
}

void Children::end_orphans_of(pid_t keeper, Done done) {
  waiting_.push_back({keeper, std::move(done)});
  end_orphans();
}

void Children::end_orphans() {
  give_up_ = Clock::now() + kPatience;
  look_again();
}

void Children::look_again() {
  reap();
  const std::size_t left = kill_orphans();
  if (left == 0) return tell_waiting(true);
  if (Clock::now() > give_up_) {
    log_line("could not end " + std::to_string(left) + " processes of a killed keeper; see `corral doctor`");
    return tell_waiting(false);
  }
  again_.start(kBetweenLooks, [this] { look_again(); });
}

/// Before a keeper is reaped its tree is not ours: nothing to be seen then means nothing.
void Children::tell_waiting(bool proved) {
  const auto reaped = [this](const Waiting& one) {
    return !keepers_.contains(one.keeper) || (kill(one.keeper, 0) != 0 && errno == ESRCH);
  };
  std::vector<Done> done;
  std::erase_if(waiting_, [&](Waiting& one) {
    const bool over = !proved || reaped(one);
    if (over) done.push_back(std::move(one.done));
    return over;
  });
  for (const Done& task : done) task(proved);
}

/// Our children are keepers or orphans; nothing else is ever started here.
std::size_t Children::kill_orphans() {
  static std::array<pid_t, 8192> pids;
  const std::size_t count = keeper::own_children(pids);
  std::size_t orphans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (keepers_.contains(pids[i])) continue;
    ++orphans;
    kill(pids[i], SIGKILL);
  }
  return orphans;
}

}  // namespace corral::server
