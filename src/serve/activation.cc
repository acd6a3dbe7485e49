#include "serve/activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/log.h"

namespace corral::serve {
namespace {

constexpr int kFirst = 3;
constexpr int kMostSockets = 64;

int whole_number(const char* text) {
  if (text == nullptr) return -1;
  const std::string_view view(text);
  int number = -1;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  return error == std::errc{} && end == view.data() + view.size() ? number : -1;
}

int socket_option(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool listens(int fd) {
  return socket_option(fd, SO_TYPE) == SOCK_STREAM && socket_option(fd, SO_ACCEPTCONN) == 1;
}

/// The member for a socket of this kind; null if it cannot be used.
UniqueFd* place_for(int fd, PassedSockets& sockets) {
  if (!listens(fd)) return nullptr;
  const int domain = socket_option(fd, SO_DOMAIN);
  UniqueFd* const place = domain == AF_UNIX                         ? &sockets.local
                          : domain == AF_INET || domain == AF_INET6 ? &sockets.tcp
                                                                    : nullptr;
  return place == nullptr || place->valid() ? nullptr : place;
}

}  // namespace

int passed_count(const char* listen_pid, const char* listen_fds, pid_t self) {
  const int count = whole_number(listen_fds);
  return whole_number(listen_pid) == self && count > 0 && count <= kMostSockets ? count : 0;
}

int passed_to_us() { return passed_count(getenv("LISTEN_PID"), getenv("LISTEN_FDS"), getpid()); }

Result<PassedSockets> take_passed_sockets() {
  const int count = passed_to_us();
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) unsetenv(variable);
  PassedSockets taken;
  for (int fd = kFirst; fd < kFirst + count; ++fd) {
    UniqueFd passed(fd);
    UniqueFd* const place = place_for(fd, taken);
    if (place == nullptr) {
      log_line("the service manager passed a descriptor (" + std::to_string(fd) +
               ") that corral does not use: it needs one local stream socket and one TCP port");
      continue;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    *place = std::move(passed);
  }
  if (count > 0 && !taken.local.valid() && !taken.tcp.valid()) {
    return Error{
        "none of the descriptors that the service manager passed is a listening stream socket, local or TCP: "
        "correct ListenStream= in corral.socket"};
  }
  return taken;
}

}  // namespace corral::serve
