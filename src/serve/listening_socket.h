// A local socket that the daemon listens on: created while the lock is held, or passed by a service manager.
// It owns the descriptor until `take` is called.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

class ListeningSocket {
 public:
  /// Mode 0600. Removes a socket that an earlier daemon left behind: the caller holds the lock, so no daemon
  /// serves it.
  static Result<ListeningSocket> make(const std::string& path);
  /// `passed` if it is valid, or else a new socket.
  static Result<ListeningSocket> take_or_make(UniqueFd passed, const std::string& path);

  UniqueFd take() { return std::move(fd_); }
  /// Removes the file, so that no client connects to a daemon that is about to end. A socket that was passed
  /// stays: the service manager accepts connections there for the next daemon.
  void remove();

 private:
  UniqueFd fd_;
  std::string path_;  // empty = it was passed
};

}  // namespace corral::serve
