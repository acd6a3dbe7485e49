#include "control/passable.h"

#include <sys/socket.h>
#include <sys/stat.h>

namespace corral::control {

bool can_be_passed(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode)) return true;
  int type = 0;
  socklen_t size = sizeof type;
  return S_ISSOCK(status.st_mode) && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

}  // namespace corral::control
