#include "cli/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

namespace corral::cli {

int fill_standard_fds() {
  int missing = -1;
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
    if (missing < 0 && fd != STDERR_FILENO) missing = fd;
  }
  return missing;
}

}  // namespace corral::cli
