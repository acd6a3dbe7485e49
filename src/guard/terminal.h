// The controlling terminal. Guard lends it to its client and takes it back, as a shell does with its jobs.
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

  /// Whether our process group is in the foreground.
  bool in_foreground() const;

  /// True if guard is the only process of a job that a shell with job control started in the foreground. Only
  /// then may another group get the terminal: other members of a pipeline (`corral guard -- x | less`) read
  /// the keys as well, a script that runs guard would miss its Ctrl+C, and without such a shell a stopped
  /// group would never be continued.
  bool lendable() const;

  /// Call when the child has taken the terminal before exec; from now on it belongs to the client.
  void note_lent() { lent_ = true; }

  /// Gives the terminal to the client's group, with the modes that it had when the client stopped.
  void lend(pid_t group);

  /// Returns the terminal to our group. `Remember` saves the client's modes for the next `lend`.
  enum class Modes { Leave, Remember };
  void take_back(Modes modes);

  /// Restores the modes from the start of guard, because a client that was killed could not. Does nothing if
  /// another process of our job may have changed them.
  void restore_modes() const;

 private:
  UniqueFd fd_;
  bool lent_ = false;
  std::optional<termios> at_start_;
  std::optional<termios> of_client_;
};

}  // namespace corral::guard
