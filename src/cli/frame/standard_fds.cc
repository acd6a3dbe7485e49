#include "cli/frame/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

namespace corral::cli {

MissingFds fill_standard_fds() {
  MissingFds missing;
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
    missing.in |= fd == STDIN_FILENO;
    missing.out |= fd == STDOUT_FILENO;
  }
  return missing;
}

}  // namespace corral::cli
