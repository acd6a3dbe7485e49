#include "serve/listening_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace corral::serve {
namespace {

Error cannot_listen(const std::string& path, int error) {
  return Error{"cannot create the socket '" + path + "': " + strerror(error) +
               "; choose another --runtime-dir"};
}

}  // namespace

Result<ListeningSocket> ListeningSocket::take_or_make(UniqueFd passed, const std::string& path) {
  if (!passed.valid()) return make(path);
  ListeningSocket listening;
  listening.fd_ = std::move(passed);
  return listening;
}

Result<ListeningSocket> ListeningSocket::make(const std::string& path) {
  ListeningSocket listening;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return cannot_listen(path, ENAMETOOLONG);
  memcpy(address.sun_path, path.data(), path.size());
  listening.fd_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());
  const mode_t before = umask(0177);  // no other user may open the file, not even for a moment
  const bool bound =
      bind(listening.fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  umask(before);
  if (!bound) return cannot_listen(path, error);
  listening.path_ = path;
  if (listen(listening.fd_.get(), SOMAXCONN) != 0) {
    const Error failure = cannot_listen(path, errno);
    listening.remove();
    return failure;
  }
  return listening;
}

void ListeningSocket::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace corral::serve
