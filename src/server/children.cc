#include "server/children.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid <= 0) return keeper_died;
    keeper_died = keepers_.erase(pid) > 0 || keeper_died;
  }
}

void Children::end_orphans() {
  give_up_ = Clock::now() + kPatience;
  look_again();
}

void Children::look_again() {
  reap();
  const std::size_t left = kill_orphans();
  if (left == 0) return;
  if (Clock::now() > give_up_) {
    log_line("could not end " + std::to_string(left) + " processes of a killed keeper; see `corral doctor`");
    return;
  }
  again_.start(kBetweenLooks, [this] { look_again(); });
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
