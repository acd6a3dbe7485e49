// The daemon's socket: made by us under the lock, or passed by a service manager.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::app {

class ListeningSocket {
 public:
  /// A socket that a predecessor left is removed: whoever holds the lock knows that nobody serves it.
  static Result<ListeningSocket> open(const std::string& path);

  UniqueFd take() { return std::move(fd_); }
  /// So that nobody finds a daemon that is about to leave. One that was passed to us is not ours to remove.
  void remove();

 private:
  UniqueFd fd_;
  std::string path_;  // empty = not ours
};

}  // namespace corral::app
