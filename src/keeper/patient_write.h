// Writes that cannot hang: a client that does not read its end of standard error must not delay the end of a
// session.
#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>

namespace corral::keeper {

/// Gives up after a second without progress. O_NONBLOCK cannot be used because the client shares the flag. A
/// pipe that polls writable takes PIPE_BUF bytes without blocking; a file takes everything at once, so a line
/// stays in one piece.
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
