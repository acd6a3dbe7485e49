#include "shim/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace corral::shim {

ShimSignals::ShimSignals() : person_at_keys_(isatty(STDIN_FILENO) == 1) {
  // Signals that the parent ignores are inherited as ignored, and would never arrive.
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) signal(signo, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP}) sigaddset(&wanted, signo);
  fd_ = UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

void ShimSignals::read_all() {
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == sizeof info) {
    const int signo = static_cast<int>(info.ssi_signo);
    const bool from_terminal = info.ssi_code == SI_KERNEL;
    if (from_terminal && !person_at_keys_) continue;
    if (signo == SIGTSTP) {
      if (person_at_keys_) raise(SIGSTOP);
    } else if (leaving_ == 0) {
      leaving_ = signo;
    }
  }
}

}  // namespace corral::shim
