// The signals of `corral guard`: blocked and read one at a time, so that none is lost. The inherited state is
// remembered, because the client must start as if guard were not there: a SIGHUP that nohup ignores stays
// ignored.
#pragma once

#include <sys/signalfd.h>

#include <csignal>
#include <optional>

#include "base/unique_fd.h"

namespace corral::guard {

class GuardSignals {
 public:
  /// Blocks the signals that are meant for the client. Create one, from a single thread.
  GuardSignals();

  /// Also blocks the three stop signals of job control. Guard then stops when its client does, and may use
  /// the terminal from the background.
  void take_over_stops();

  int fd() const { return fd_.get(); }
  /// Reads one signal without waiting; empty if none is pending.
  std::optional<signalfd_siginfo> next();

  /// Call in the child, before exec.
  void restore_inherited() const;

  /// Stops this process as if `signo` had arrived now, and returns when it is continued. Returns at once if
  /// its group is orphaned: the kernel does not stop such a group.
  void stop_by(int signo) const;

  /// Ends this process by `signo`, without a core dump of guard. Returns if the signal does not end a
  /// process.
  void die_by(int signo) const;

 private:
  void take_over(int signo);

  sigset_t inherited_{};
  sigset_t wanted_{};
  bool children_ignored_ = false;
  UniqueFd fd_;
};

}  // namespace corral::guard
