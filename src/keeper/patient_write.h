// Writing to somebody who may not read: a client that forgot the pipe behind our standard error must not be
// able to hold up the end of a session.
#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>

namespace corral::keeper {

/// Gives up after a second without progress. O_NONBLOCK is no way: the flag would be the client's, too. A
/// pipe that polls writable takes PIPE_BUF bytes without blocking; a file takes all at once, so that a line
/// stays whole.
inline bool write_without_hanging(int fd, const char* bytes, std::size_t size) {
  constexpr int kPatienceMs = 1000;
  struct stat status {};
  const bool file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  while (size > 0) {
    pollfd ready{fd, POLLOUT, 0};
    if (poll(&ready, 1, kPatienceMs) != 1 || (ready.revents & POLLOUT) == 0) return false;
    const ssize_t written = write(fd, bytes, file ? size : std::min<std::size_t>(size, PIPE_BUF));
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace corral::keeper
