#include "support/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "support/eventually.h"
#include "support/platform.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

struct Ends {
  int ours = -1;
  int theirs = -1;
};

Ends make_ends(Stdio kind, bool they_read, const Terminal* terminal) {
  int fds[2];
  switch (kind) {
    case Stdio::Pipe:
      if (pipe2(fds, O_CLOEXEC) != 0) std::abort();
      return they_read ? Ends{fds[1], fds[0]} : Ends{fds[0], fds[1]};
    case Stdio::Socket:
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
      return {fds[0], fds[1]};
    case Stdio::Null: return {-1, open("/dev/null", O_RDWR | O_CLOEXEC)};
    case Stdio::Terminal: return {-1, dup(terminal->slave())};
    case Stdio::Closed: return {};
  }
  return {};
}

// dup2 onto itself keeps close-on-exec, which is why the result is cleared by hand.
void place(int fd, int at) {
  if (fd < 0) {
    close(at);
  } else if (fd == at) {
    fcntl(fd, F_SETFD, 0);
  } else {
    dup2(fd, at);
  }
}

[[noreturn]] void exec_child(const Launch& launch, int in, int out, int err) {
  if (launch.terminal != nullptr) {
    setsid();
    ioctl(launch.terminal->slave(), TIOCSCTTY, 0);
  }
  // First away from 0..2, so that placing one does not overwrite another.
  const auto aside = [](int fd) { return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 10); };
  const int moved[3] = {aside(in), aside(out), aside(err)};
  for (int at = 0; at < 3; ++at) place(moved[at], at);
  if (launch.before_exec) launch.before_exec();
  if (launch.uid) become(*launch.uid);
  for (const std::string& setting : launch.env) putenv(const_cast<char*>(setting.c_str()));
  std::vector<char*> argv;
  for (const std::string& argument : launch.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  dprintf(2, "test: cannot execute %s: %s\n", argv[0], strerror(errno));
  _exit(98);
}

std::string field(const std::string& line, const std::string& name) {
  const std::string key = '"' + name + "\":\"";
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return line.substr(begin, line.rfind('"') - begin);
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Session::Session(const Launch& launch) {
  signal(SIGPIPE, SIG_IGN);
  const Ends in = make_ends(launch.in, true, launch.terminal);
  const Ends out = make_ends(launch.out, false, launch.terminal);
  const int err = launch.stderr_path.empty()
                      ? -1
                      : open(launch.stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  pid_ = fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    signal(SIGPIPE, SIG_DFL);
    exec_child(launch, in.theirs, out.theirs, err);
  }
  in_ = in.ours;
  out_ = out.ours;
  for (const int fd : {in.theirs, out.theirs, err}) {
    if (fd >= 0) close(fd);
  }
}

Session::~Session() {
  close_stdin();
  close_stdout();
  if (wait()) return;
  ADD_FAILURE() << "the program under test did not end; killing " << pid_;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Session::send(const std::string& method, const std::string& arg) {
  const std::string line =
      "{\"id\":" + std::to_string(++next_id_) + ",\"method\":\"" + method + "\",\"arg\":\"" + arg + "\"}\n";
  if (write(in_, line.data(), line.size()) < 0)
    ADD_FAILURE() << "cannot send " << method << ": " << strerror(errno);
}

std::optional<std::string> Session::ask(const std::string& method, const std::string& arg) {
  send(method, arg);
  return answer();
}

std::optional<std::string> Session::answer() {
  read_until([this] { return !answers_.empty(); });
  if (answers_.empty()) return std::nullopt;
  std::string first = answers_.front();
  answers_.pop_front();
  return first;
}

std::optional<int> Session::notice(const std::string& name) {
  std::deque<int>& numbers = notices_[name];
  read_until([&] { return !numbers.empty(); });
  if (numbers.empty()) return std::nullopt;
  const int first = numbers.front();
  numbers.pop_front();
  return first;
}

void Session::close_stdin() {
  if (in_ >= 0) close(in_);
  in_ = -1;
}

void Session::close_stdout() {
  if (out_ >= 0) close(out_);
  out_ = -1;
}

void Session::half_close() { shutdown(in_, SHUT_WR); }

bool Session::output_ends() {
  read_until([] { return false; });
  return out_ended_;
}

std::string Session::output_to_end() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!out_ended_ && std::chrono::steady_clock::now() < deadline) read_more();
  return std::exchange(buffer_, {});
}

std::optional<int> Session::wait() {
  if (exit_code_) return exit_code_;
  int status = 0;
  if (eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) exit_code_ = shell_code(status);
  return exit_code_;
}

// Waits a moment for more output; false if there was none.
bool Session::read_more() {
  pollfd polled{out_, POLLIN, 0};
  if (out_ended_ || out_ < 0 || poll(&polled, 1, 100) <= 0) return false;
  char bytes[4096];
  const ssize_t got = read(out_, bytes, sizeof bytes);
  if (got <= 0) {
    out_ended_ = true;
    return false;
  }
  buffer_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

bool Session::take_line(std::string& line) {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return false;
  line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return true;
}

void Session::sort_line(const std::string& line) {
  if (!line.starts_with('!')) {
    answers_.push_back(field(line, "result"));
    return;
  }
  const std::size_t space = line.find(' ');
  notices_[line.substr(1, space - 1)].push_back(std::atoi(line.c_str() + space + 1));
}

void Session::read_until(const std::function<bool()>& enough) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    for (std::string line; take_line(line);) sort_line(line);
    if (enough() || out_ended_ || out_ < 0 || std::chrono::steady_clock::now() >= deadline) return;
    read_more();
  }
}

}  // namespace corral::os_tests
