// A client that starts many copies of one server over pipes, as MCP clients do, and never ends one. Copied to
// the name of a well-known client it is that client, for all that can be seen of it:
//
//   leaky_client [--count=N] [--interval=MS] [--life=SECONDS] -- PROGRAM [ARG...]
//
// Lines that it writes: "!server PID" for each copy, "!started N" when the last one runs. Lines that it
// reads: "more" starts one more copy, "let-go" closes every pipe and answers "!closed N". It ends at the end
// of its input.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lifetime.h"

namespace {

struct Options {
  long count = 1;
  long interval_ms = 0;
  long life_seconds = 60;
  char** command = nullptr;
};

bool take_number(std::string_view argument, std::string_view name, long& number) {
  if (!argument.starts_with(name)) return false;
  number = std::atol(argument.data() + name.size());
  return true;
}

Options parse(int argc, char** argv) {
  Options options;
  int next = 1;
  for (; next < argc && std::string_view(argv[next]) != "--"; ++next) {
    const std::string_view argument = argv[next];
    const bool known = take_number(argument, "--count=", options.count) ||
                       take_number(argument, "--interval=", options.interval_ms) ||
                       take_number(argument, "--life=", options.life_seconds);
    if (!known) std::exit(64);
  }
  if (next + 1 >= argc) std::exit(64);
  options.command = argv + next + 1;
  options.count = std::min(options.count, 400L);
  options.life_seconds = std::min(options.life_seconds, 60L);
  return options;
}

void tell(const char* what, long number) {
  std::printf("!%s %ld\n", what, number);
  std::fflush(stdout);
}

// A copy that was ended by somebody else must not stay as a zombie: clients reap what they started.
void reap_children_at_once() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  action.sa_flags = SA_NOCLDWAIT;
  sigaction(SIGCHLD, &action, nullptr);
}

class Client {
 public:
  explicit Client(char** command) : command_(command) {}

  void start() {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::exit(70);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    pid_t pid = 0;
    if (posix_spawnp(&pid, command_[0], &actions, nullptr, command_, environ) != 0) std::exit(71);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    held_.insert(held_.end(), {in[1], out[0]});
    tell("server", pid);
  }

  void let_go() {
    const auto pairs = static_cast<long>(held_.size() / 2);
    for (const int fd : held_) close(fd);
    held_.clear();
    tell("closed", pairs);
  }

 private:
  char** command_;
  std::vector<int> held_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  corral::fakes::end_by_itself(corral::fakes::Deadline::in_seconds(options.life_seconds));
  reap_children_at_once();
  Client client(options.command);
  long started = 0;
  std::string buffer;
  for (;;) {
    while (started < options.count) {
      client.start();
      if (++started == options.count) tell("started", started);
      if (options.interval_ms > 0) break;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int wait = started < options.count ? static_cast<int>(options.interval_ms) : -1;
    if (poll(&input, 1, wait) <= 0) continue;
    char bytes[256];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) return 0;
    buffer.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
      const std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      if (line == "more") client.start();
      if (line == "let-go") client.let_go();
    }
  }
}
