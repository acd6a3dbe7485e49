// A local socket of the daemon: made under the lock, or passed by a service manager.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

class ListeningSocket {
 public:
  /// Mode 0600. A socket that a predecessor left is removed: we hold the lock, so no daemon serves it.
  static Result<ListeningSocket> make(const std::string& path);
  /// The one that was passed, or else one that we make.
  static Result<ListeningSocket> take_or_make(UniqueFd passed, const std::string& path);

  UniqueFd take() { return std::move(fd_); }
  /// So that no client finds a daemon that is about to end. A socket that was passed to us is not removed.
  void remove();

 private:
  UniqueFd fd_;
  std::string path_;  // empty = not ours
};

}  // namespace corral::serve
