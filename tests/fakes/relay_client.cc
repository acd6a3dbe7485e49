// A client that starts a server the way MCP clients do and passes lines between it and the test, so that the
// test can kill the client without being it:
//
//   relay_client [--handle-signals] PROGRAM [ARG...]
//
// Lines that it reads go to the server's stdin, lines of the server's stdout go to its own. Lines of its own
// start with '!': "!server PID", "!signal N", "!exit STATUS". The end of its input closes the server's stdin.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "child.h"
#include "lifetime.h"

namespace {

using corral::fakes::Child;
using corral::fakes::start;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void tell(const std::string& what, int number) {
  write_all(STDOUT_FILENO, '!' + what + ' ' + std::to_string(number) + '\n');
}

// What an interactive client does with Ctrl+C: it notices and goes on. Handlers, unlike SIG_IGN,
// do not pass exec.
void tell_signal(int number) {
  char line[] = "!signal 00\n";
  line[8] = static_cast<char>('0' + number / 10);
  line[9] = static_cast<char>('0' + number % 10);
  write_all(STDOUT_FILENO, {line, sizeof line - 1});
}

void handle_terminal_signals() {
  struct sigaction action {};
  action.sa_handler = tell_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP}) sigaction(number, &action, nullptr);
}

// Copies what is there; false at the end of input.
bool copy_some(int from, int to) {
  char bytes[4096];
  const ssize_t got = read(from, bytes, sizeof bytes);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  write_all(to, {bytes, static_cast<std::size_t>(got)});
  return true;
}

void relay(const Child& child) {
  pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {child.out, POLLIN, 0}};
  while (polled[1].fd >= 0) {
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[0].revents != 0 && !copy_some(STDIN_FILENO, child.in)) {
      close(child.in);
      polled[0].fd = -1;
    }
    if (polled[1].revents != 0 && !copy_some(child.out, STDOUT_FILENO)) polled[1].fd = -1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "relay-client");
  corral::fakes::end_by_itself(corral::fakes::Deadline::in_seconds(60));
  int next = 1;
  for (; next < argc && argv[next][0] == '-'; ++next) {
    if (std::strcmp(argv[next], "--handle-signals") == 0) handle_terminal_signals();
  }
  if (next == argc) return 64;

  const Child child = start(argv + next);
  signal(SIGPIPE, SIG_IGN);  // after the start: the server gets the default
  tell("server", child.pid);
  relay(child);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  tell("exit", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 0;
}
