#include "base/log.h"

#include <poll.h>
#include <unistd.h>

#include <string>

#include "version.h"

namespace corral {

void log_line(std::string_view sentence) {
  std::string line = "[corral v" + std::string(kVersion) + "] ";
  line.append(sentence);
  line += '\n';
  // One call, so that lines of several processes do not mix. A reader that has stopped must not stop the
  // daemon.
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace corral
