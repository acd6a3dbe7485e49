// The controlling terminal, which guard lends to its client and takes back, as a shell does with its jobs.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "base/unique_fd.h"

namespace corral::guard {

class Terminal {
 public:
  /// Opens /dev/tty: a client may use it even if none of its standard descriptors is a terminal.
  Terminal();

  int fd() const { return fd_.get(); }

  /// Our own group is the one that the keys are for.
  bool in_foreground() const;

  /// True if we are the only process of a job that a shell with job control started in the foreground. Only
  /// then may the terminal go to another group: others of a pipeline (`corral guard -- x | less`) read the
  /// keys as well, a script above us would miss its Ctrl+C, and without such a shell nobody continues a
  /// stopped group.
  bool lendable() const;

  /// The child has done it before exec; from now on the terminal is the client's.
  void note_lent() { lent_ = true; }

  /// To the client's group, with the modes that it had when it stopped.
  void lend(pid_t group);

  /// Back to our group. `Remember` keeps the client's modes for the next `lend`.
  enum class Modes { Leave, Remember };
  void take_back(Modes modes);

  /// The modes as they were when guard started: a client that was killed could not do it. Not if somebody
  /// else of our job may have set others.
  void restore_modes() const;

 private:
  UniqueFd fd_;
  bool lent_ = false;
  std::optional<termios> at_start_;
  std::optional<termios> of_client_;
};

}  // namespace corral::guard
