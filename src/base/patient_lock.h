// A lock on an open file that every process holds only briefly, so that a second process can wait for it.
#pragma once

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace corral {

/// flock(LOCK_EX) with a time limit, long enough for twenty processes that start at once. Returns false if
/// another process holds the lock for longer. Returns true on a file system without locks, because the caller
/// can do nothing about that. Blocks the thread; the lock ends when the descriptor is closed.
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
