// A lock on an open file that is held only for moments, so that whoever comes second waits for it.
#pragma once

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace corral {

/// flock(LOCK_EX), with a bound: twenty who come at once all get their turn. False = somebody holds it for
/// longer. A file system without locks is no reason to refuse: then it is true, too.
inline bool lock_with_patience(int fd, std::chrono::milliseconds patience = std::chrono::seconds(5)) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{5};
  const auto deadline = steady_clock::now() + patience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace corral
