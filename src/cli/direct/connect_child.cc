#include "cli/direct/connect_child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "keeper/kernel.h"

namespace corral::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A server without a daemon has graces of 2 s, 1.5 s and 2 s, and then writes one line of report.
constexpr milliseconds kToLeave{10'000};
constexpr milliseconds kToLeaveSoon{1'000};
constexpr milliseconds kAfterTerm{8'000};
constexpr milliseconds kAfterKill{5'000};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("cannot create a pipe: ") + strerror(errno)};
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void never_block(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// Restores the signal mask from before, and makes the pipes the child's stdin and stdout.
int spawn(pid_t& pid, int in, int out, const sigset_t& mask, std::vector<char*>& argv,
          const ChildPlace* place) {
  std::vector<char*> environment;
  if (place != nullptr) {
    for (const std::string& variable : place->environment) {
      environment.push_back(const_cast<char*>(variable.c_str()));
    }
  }
  environment.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (place != nullptr) posix_spawn_file_actions_adddup2(&actions, place->error_output, STDERR_FILENO);
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(),
                                place == nullptr ? environ : environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<ConnectChild> ConnectChild::start(const std::vector<std::string>& args, Interrupts& interrupts,
                                         const ChildPlace* place) {
  Result<Pipe> in = make_pipe();
  if (!in) return in.error();
  Result<Pipe> out = make_pipe();
  if (!out) return out.error();
  std::vector<std::string> line = {"corral"};
  line.insert(line.end(), args.begin(), args.end());
  std::vector<char*> argv;
  argv.reserve(line.size() + 1);
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = spawn(pid, in->read.get(), out->write.get(), interrupts.mask_before(), argv, place);
  if (error != 0) return Error{std::string("cannot start `corral connect`: ") + strerror(error)};
  never_block(in->write.get());
  never_block(out->read.get());
  return ConnectChild(pid, interrupts, std::move(in->write), std::move(out->read));
}

ConnectChild::ConnectChild(pid_t pid, Interrupts& interrupts, UniqueFd input, UniqueFd output)
    : pid_(pid),
      interrupts_(&interrupts),
      pidfd_(keeper::pidfd_open(pid)),
      input_(std::move(input)),
      output_(std::move(output)) {}

ConnectChild::ConnectChild(ConnectChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      interrupts_(other.interrupts_),
      pidfd_(std::move(other.pidfd_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      exit_code_(other.exit_code_),
      hurried_(other.hurried_) {}

ConnectChild::~ConnectChild() {
  if (pid_ > 0) end();
}

int ConnectChild::end() {
  input_.reset();
  if (ends_within(hurried_ ? kToLeaveSoon : kToLeave)) return *exit_code_;
  signal(SIGTERM);
  if (ends_within(kAfterTerm)) return *exit_code_;
  signal(SIGKILL);
  if (!ends_within(kAfterKill))
    exit_code_ = 128 + SIGKILL;  // blocked in the kernel; nothing more can be done
  return *exit_code_;
}

/// Discards its output while waiting, because a process that is blocked in a write does not exit.
bool ConnectChild::ends_within(milliseconds time) {
  const auto until = steady_clock::now() + time;
  static char unread[65536];
  while (!reap()) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> ready = {pollfd{pidfd_.get(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0},
                                   pollfd{interrupts_->fd(), POLLIN, 0}};
    const int patience = pidfd_.valid() ? static_cast<int>(left.count()) : 20;
    poll(ready.data(), ready.size(), patience);
    if (ready[1].revents != 0) {
      const ssize_t got = read(output_.get(), unread, sizeof unread);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) output_.reset();
    }
    if (ready[2].revents != 0 && interrupts_->again()) return reap();
  }
  return true;
}

bool ConnectChild::reap() {
  if (exit_code_) return true;
  int status = 0;
  const pid_t got = waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  exit_code_ = got < 0 || WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

void ConnectChild::signal(int signo) const {
  if (pidfd_.valid()) {
    keeper::pidfd_send_signal(pidfd_.get(), signo);
  } else {
    kill(pid_, signo);
  }
}

}  // namespace corral::cli
