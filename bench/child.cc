#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace corral::bench {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  return {fds[0], fds[1]};
}

int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void close_and_forget(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// posix_spawn for all variants: the cost of starting from here is the same small constant for each.
pid_t spawn(const std::vector<std::string>& argv, const SpawnSettings& settings, int stdin_fd,
            int stdout_fd) {
  std::vector<char*> args;
  args.reserve(argv.size() + 1);
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, stdin_fd, 0);
  posix_spawn_file_actions_adddup2(&actions, stdout_fd, 1);
  if (!settings.stderr_file.empty()) {
    posix_spawn_file_actions_addopen(&actions, 2, settings.stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  }
  // We ignore SIGPIPE; the child must not.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  const int flags = POSIX_SPAWN_SETSIGDEF | (settings.own_session ? POSIX_SPAWN_SETSID : 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  pid_t pid = -1;
  const int error = posix_spawn(&pid, args[0], &actions, &attributes, args.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + argv[0]);
  return pid;
}

}  // namespace

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Child::Child(const std::vector<std::string>& argv, const SpawnSettings& settings) {
  Pipe to_child = make_pipe();
  Pipe from_child = make_pipe();
  in_ = to_child.write_end;
  out_ = from_child.read_end;
  try {
    pid_ = spawn(argv, settings, to_child.read_end, from_child.write_end);
  } catch (...) {
    for (int* fd : {&in_, &out_, &to_child.read_end, &from_child.write_end}) close_and_forget(*fd);
    throw;
  }
  close(to_child.read_end);
  close(from_child.write_end);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      next_id_(other.next_id_) {}

Child::~Child() {
  close_and_forget(in_);
  close_and_forget(out_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // unreaped, so the pid is still ours
    waitpid(pid_, nullptr, 0);
  }
}

double Child::ask() {
  char request[160];
  char wanted[32];
  const unsigned id = next_id_++;
  const int length =
      snprintf(request, sizeof request,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
               "\"arguments\":{\"text\":\"hello\"}}}\n",
               id);
  snprintf(wanted, sizeof wanted, "\"id\":%u,", id);

  char reply[512];
  size_t filled = 0;
  const Clock::time_point start = Clock::now();
  if (write(in_, request, static_cast<size_t>(length)) != length)
    throw std::runtime_error("the server is gone");
  while (filled == 0 || reply[filled - 1] != '\n') {
    const ssize_t got = read(out_, reply + filled, sizeof reply - 1 - filled);
    if (got <= 0) throw std::runtime_error("the server ended before it answered");
    filled += static_cast<size_t>(got);
  }
  const double us = ms_since(start) * 1000;
  reply[filled] = '\0';
  if (strstr(reply, wanted) == nullptr) throw std::runtime_error(std::string("wrong answer: ") + reply);
  return us;
}

void Child::close_stdin() { close_and_forget(in_); }

int Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  pid_ = -1;
  return exit_code(status);
}

pid_t Child::release() { return std::exchange(pid_, -1); }

}  // namespace corral::bench
