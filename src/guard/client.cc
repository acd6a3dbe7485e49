#include "guard/client.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "keeper/kernel.h"
#include "proc/command_lookup.h"

namespace corral::guard {
namespace {

std::vector<std::string> path_variable() {
  const char* const path = getenv("PATH");
  if (path == nullptr) return {};
  return {std::string("PATH=") + path};
}

struct Start {
  const char* executable;
  char* const* argv;
  Placement placement;
  const Terminal& terminal;
  const GuardSignals& signals;
  pid_t guard;
};

/// Called in the child. Returns only if exec failed.
void become_client(const Start& start) {
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (getppid() != start.guard) _exit(125);  // it died before the call above took effect
  if (start.placement == Placement::OwnForegroundGroup) {
    // Done here and not in the parent, so that the client is in the foreground from its first instruction.
    // SIGTTOU is blocked, or this call would stop the process.
    setpgid(0, 0);
    tcsetpgrp(start.terminal.fd(), getpid());
  }
  start.signals.restore_inherited();
  execv(start.executable, start.argv);
}

int read_error(int fd) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

void close_range_of(unsigned first, unsigned last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  keeper::for_each_possible_fd(first, [last](int fd) {  // before Linux 5.9
    if (static_cast<unsigned>(fd) <= last) close(fd);
  });
}

}  // namespace

Result<pid_t> start_client(const std::vector<std::string>& argv, Placement placement,
                           const Terminal& terminal, const GuardSignals& signals) {
  const Result<proc::Executable> found = proc::find_command(argv.front(), path_variable(), "");
  if (!found) return found.error();
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("cannot create a pipe: ") + strerror(errno)};
  const UniqueFd hear(ends[0]);
  UniqueFd tell(ends[1]);
  const Start start{found->path.c_str(), words.data(), placement, terminal, signals, getpid()};
  const pid_t pid = fork();
  if (pid < 0) return Error{std::string("cannot start the client: fork: ") + strerror(errno)};
  if (pid == 0) {
    become_client(start);
    const int error = errno;
    if (write(tell.get(), &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  tell.reset();
  const int error = read_error(hear.get());
  if (error == 0) return pid;
  waitpid(pid, nullptr, 0);
  return proc::explain_exec_failure(found->path, error);
}

void let_go_of_inherited(std::vector<int> ours) {
  keeper::let_go(STDIN_FILENO, O_RDONLY);
  keeper::let_go(STDOUT_FILENO, O_WRONLY);
  std::sort(ours.begin(), ours.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : ours) {
    if (fd <= STDERR_FILENO) continue;
    if (static_cast<unsigned>(fd) > first) close_range_of(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_range_of(first, ~0U);
}

}  // namespace corral::guard
