// The signals of `corral guard`: blocked and read one at a time, so that none is lost between two looks. What
// was inherited is remembered, because the client must start as if guard were not there: nohup's ignored
// SIGHUP stays ignored.
#pragma once

#include <sys/signalfd.h>

#include <csignal>
#include <optional>

#include "base/unique_fd.h"

namespace corral::guard {

class Signals {
 public:
  /// Takes over what is for the client. Call it once, from a single thread.
  Signals();

  /// Also takes over the three stops of job control. Guard then stops when its client does, and may touch the
  /// terminal from the background.
  void take_over_stops();

  int fd() const { return fd_.get(); }
  std::optional<signalfd_siginfo> next();

  /// In the child, before exec.
  void restore_inherited() const;

  /// Stops this process as if `signo` had come now; returns when it is continued. At once if its group is
  /// orphaned: the kernel does not stop those, since nobody would continue them.
  void stop_by(int signo) const;

  /// Ends this process by `signo`, without a core of ours. Returns if that does not end a process.
  void die_by(int signo) const;

 private:
  void take_over(int signo);

  sigset_t inherited_{};
  sigset_t wanted_{};
  bool children_ignored_ = false;
  UniqueFd fd_;
};

}  // namespace corral::guard
