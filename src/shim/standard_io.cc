#include "shim/standard_io.h"

#include <fcntl.h>
#include <unistd.h>

#include "control/control_socket.h"

namespace corral::shim {

KeptFlags::KeptFlags() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    if (!control::can_be_passed(fd)) continue;  // not passed to the daemon, so its flags do not change
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
