// A local socket of the daemon's: made by us under the lock, or passed by a service manager.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

class ListeningSocket {
 public:
  /// For us alone: 0600. A socket that a predecessor left is removed: whoever holds the lock knows that
  /// nobody serves it.
  static Result<ListeningSocket> make(const std::string& path);
  /// The one that was passed, or else one that we make.
  static Result<ListeningSocket> take_or_make(UniqueFd passed, const std::string& path);

  UniqueFd take() { return std::move(fd_); }
  /// So that nobody finds a daemon that is about to leave. One that was passed to us is not ours to remove.
  void remove();

 private:
  UniqueFd fd_;
  std::string path_;  // empty = not ours
};

}  // namespace corral::serve
