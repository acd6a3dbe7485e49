#include "cli/frame/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace corral::cli {

Interrupts::Interrupts() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ::signal(signo, SIG_DFL);  // the parent may ignore it, and we would inherit that
    sigaddset(&wanted, signo);
  }
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is reported by write(), not by a signal
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  fd_ = UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool Interrupts::again() {
  bool any = false;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == sizeof info) {
    any = true;
    if (first_ == 0) first_ = static_cast<int>(info.ssi_signo);
  }
  return any;
}

int Interrupts::signal() {
  again();
  return first_;
}

}  // namespace corral::cli
