#include "guard/signals.h"

#include <sys/resource.h>
#include <unistd.h>

namespace corral::guard {
namespace {

bool ignored(int signo) {
  struct sigaction action {};
  return sigaction(signo, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void deliver(int signo) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signo);
  sigset_t before;
  raise(signo);
  sigprocmask(SIG_UNBLOCK, &one, &before);  // the pending signal arrives here
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

GuardSignals::GuardSignals() {
  sigprocmask(SIG_SETMASK, nullptr, &inherited_);
  sigemptyset(&wanted_);
  children_ignored_ = ignored(SIGCHLD);
  if (children_ignored_) signal(SIGCHLD, SIG_DFL);  // otherwise the kernel discards exit codes
  for (const int signo : {SIGCHLD, SIGCONT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
    take_over(signo);
  }
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigprocmask(SIG_BLOCK, &pipe, nullptr);  // a closed stderr must not keep guard from ending the tree
  fd_ = UniqueFd(signalfd(-1, &wanted_, SFD_CLOEXEC | SFD_NONBLOCK));
}

void GuardSignals::take_over_stops() {
  sigset_t stops;
  sigemptyset(&stops);
  for (const int signo : {SIGTSTP, SIGTTIN, SIGTTOU}) sigaddset(&stops, signo);
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  take_over(SIGTSTP);
  signalfd(fd_.get(), &wanted_, 0);
}

/// A blocked signal stays pending even if it is ignored, so an ignored one must not be blocked.
void GuardSignals::take_over(int signo) {
  if (ignored(signo)) return;
  sigaddset(&wanted_, signo);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signo);
  sigprocmask(SIG_BLOCK, &one, nullptr);
}

std::optional<signalfd_siginfo> GuardSignals::next() {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return info;
}

void GuardSignals::restore_inherited() const {
  if (children_ignored_) signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &inherited_, nullptr);
}

void GuardSignals::stop_by(int signo) const {
  struct sigaction before {};
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signo, &standard, &before);
  deliver(signo);
  sigaction(signo, &before, nullptr);
}

void GuardSignals::die_by(int signo) const {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(signo, SIG_DFL);
  deliver(signo);
}

}  // namespace corral::guard
