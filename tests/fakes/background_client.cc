// A client whose interface hands its session to a background process, which keeps the server when the
// interface has gone:
//
//   background_client app-server SOCKET PROGRAM [ARG...]   the background process: leaves the terminal, waits
//   at
//                                                          the Unix socket, and holds the pipes of PROGRAM
//   background_client attach SOCKET                        the interface
//
// Lines of an interface go to the server, lines of the server to all interfaces. The interface ends with its
// input or its terminal; the background process with SIGTERM, or by itself.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "child.h"
#include "lifetime.h"

namespace {

constexpr int kFailed = 72;

sockaddr_un address_of(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return address;
}

void write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t put = write(fd, bytes, size);
    if (put <= 0) return;
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
}

// False at the end of what can be read.
bool copy_some(int from, const std::vector<int>& to) {
  char bytes[4096];
  const ssize_t got = read(from, bytes, sizeof bytes);
  if (got <= 0) return false;
  for (const int fd : to) write_all(fd, bytes, static_cast<std::size_t>(got));
  return true;
}

int keep_session(const char* path, char** program) {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, 0);
  dup2(null, 1);
  const int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  if (bind(door, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return kFailed;
  if (listen(door, 8) != 0) return kFailed;
  const corral::fakes::Child server = corral::fakes::start(program);
  std::vector<int> visitors;
  for (;;) {
    std::vector<pollfd> polled = {{door, POLLIN, 0}, {server.out, POLLIN, 0}};
    for (const int visitor : visitors) polled.push_back({visitor, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[1].revents != 0 && !copy_some(server.out, visitors)) return 0;
    for (std::size_t i = 2; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || copy_some(polled[i].fd, {server.in})) continue;
      close(polled[i].fd);
      std::erase(visitors, polled[i].fd);
    }
    if (polled[0].revents != 0) visitors.push_back(accept4(door, nullptr, nullptr, SOCK_CLOEXEC));
  }
}

int attach(const char* path) {
  const int background = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  while (connect(background, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    corral::fakes::sleep_ms(20);
  }
  for (;;) {
    pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {background, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[0].revents != 0 && !copy_some(STDIN_FILENO, {background})) return 0;
    if (polled[1].revents != 0 && !copy_some(background, {STDOUT_FILENO})) return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr long kLongest = 300;
  corral::fakes::end_by_itself(corral::fakes::Deadline::in_seconds(kLongest));
  signal(SIGPIPE, SIG_IGN);
  const std::string_view mode = argc > 2 ? argv[1] : "";
  if (mode == "app-server" && argc > 3) return keep_session(argv[2], argv + 3);
  if (mode == "attach") return attach(argv[2]);
  std::fputs("usage: background_client app-server SOCKET PROGRAM [ARG...] | attach SOCKET\n", stderr);
  return 64;
}
