#include "shim/standard_io.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace corral::shim {

bool can_be_passed(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode)) return true;
  int type = 0;
  socklen_t size = sizeof type;
  return S_ISSOCK(status.st_mode) && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

KeptFlags::KeptFlags() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    if (!can_be_passed(fd)) continue;  // nobody but us touches it
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0) continue;
    kept_[static_cast<std::size_t>(fd)] = {UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3)), flags};
  }
}

void KeptFlags::restore() const {
  for (const Kept& kept : kept_) {
    if (kept.fd.valid()) fcntl(kept.fd.get(), F_SETFL, kept.flags);
  }
}

}  // namespace corral::shim
