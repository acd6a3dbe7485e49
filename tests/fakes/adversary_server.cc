#include "adversary_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "adversary_trees.h"
#include "words.h"

namespace corral::fakes {
namespace {

struct CountedSignal {
  int number;
  const char* name;
};

constexpr std::array<CountedSignal, 6> kCounted = {{{SIGINT, "INT"},
                                                    {SIGQUIT, "QUIT"},
                                                    {SIGTSTP, "TSTP"},
                                                    {SIGTERM, "TERM"},
                                                    {SIGHUP, "HUP"},
                                                    {SIGCONT, "CONT"}}};

volatile sig_atomic_t received[NSIG];

void count_signal(int number) { received[number] = received[number] + 1; }

void install_counters() {
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  for (const CountedSignal& counted : kCounted) sigaction(counted.number, &action, nullptr);
}

std::string received_signals() {
  std::string text;
  for (const CountedSignal& counted : kCounted) {
    if (!text.empty()) text += ' ';
    text += std::string(counted.name) + '=' + std::to_string(received[counted.number]);
  }
  return text;
}

std::string open_descriptors() {
  std::string text;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return "no /proc";
  while (const dirent* const entry = readdir(directory)) {
    if (entry->d_name[0] == '.' || std::atoi(entry->d_name) == dirfd(directory)) continue;
    if (!text.empty()) text += ' ';
    text += entry->d_name;
  }
  closedir(directory);
  return text;
}

std::string signal_state() {
  std::ifstream status("/proc/self/status");
  std::string text;
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Sig") && !line.starts_with("Shd")) continue;
    if (line.starts_with("SigQ")) continue;
    for (char& c : line) {
      if (c == '\t') c = ' ';
    }
    text += line + ';';
  }
  return text;
}

std::string hard_rttime_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_RTTIME, &limit);
  return limit.rlim_max == RLIM_INFINITY ? "infinity" : std::to_string(limit.rlim_max);
}

std::string ids() {
  return std::to_string(getpid()) + ' ' + std::to_string(getsid(0)) + ' ' + std::to_string(getpgid(0));
}

std::string terminal_access() {
  const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0) return std::strerror(errno);
  close(fd);
  return "opened";
}

// Both work in a child, so that the server itself stays able to answer.
void eat(const AdversaryOptions& options, std::size_t mebibytes) {
  if (fork() != 0) return;
  end_by_itself(options.deadline());
  const std::size_t size = mebibytes << 20;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) std::memset(memory, 1, size);
  idle_for_ever();
}

void burn(const AdversaryOptions& options) {
  if (fork() != 0) return;
  end_by_itself(options.deadline());
  for (volatile unsigned long n = 0;;) n = n + 1;
}

void misname(const AdversaryOptions& options) {
  if (fork() != 0) return;
  end_by_itself(options.deadline());
  prctl(PR_SET_NAME, "\"}],\\\n\x01\xff\xc3(");
  idle_for_ever();
}

std::string current_directory() {
  char path[4096];
  return getcwd(path, sizeof path) != nullptr ? path : std::strerror(errno);
}

std::string perform(const AdversaryOptions& options, std::string_view method, const std::string& arg) {
  if (method == "echo") return arg;
  if (method == "pid") return ids();
  if (method == "signals") return received_signals();
  if (method == "fds") return open_descriptors();
  if (method == "sigstate") return signal_state();
  if (method == "cwd") return current_directory();
  if (method == "rttime") return hard_rttime_limit();
  if (method == "tty") return terminal_access();
  if (method == "grow") return grow(options, arg) ? "grown" : "failed";
  if (method == "env") {
    const char* const value = std::getenv(arg.c_str());
    return value != nullptr ? value : "(unset)";
  }
  if (method == "block") {
    sleep_ms(std::stol(arg));
    return "unblocked";
  }
  if (method == "eat") {
    eat(options, std::stoul(arg));
    return "eating";
  }
  if (method == "burn") {
    burn(options);
    return "burning";
  }
  if (method == "misname") {
    misname(options);
    return "named";
  }
  if (method == "exit") std::exit(std::stoi(arg));
  if (method == "die") {
    signal(std::stoi(arg), SIG_DFL);
    raise(std::stoi(arg));
  }
  return "unknown method";
}

class LineReader {
 public:
  std::optional<std::string> next() {
    for (;;) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      char bytes[4096];
      const ssize_t got = read(0, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      buffer_.append(bytes, static_cast<std::size_t>(got));
    }
  }

 private:
  std::string buffer_;
};

void write_line(const std::string& line) {
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t put = write(1, left.data(), left.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    left.remove_prefix(static_cast<std::size_t>(put));
  }
}

// flock(2) belongs to the open file, which every fork and exec shares: it is free when the last of them is
// gone, including those that change their pid too fast for any scan of /proc.
void take_alive_lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) std::exit(66);
}

}  // namespace

int serve(const AdversaryOptions& options) {
  if (options.count_signals) install_counters();
  if (options.ignore_term) {
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) signal(number, SIG_IGN);
  }
  if (!options.alive_lock.empty()) take_alive_lock(options.alive_lock);
  for (const std::string& tree : options.grow) {
    if (!grow(options, tree)) return 65;
  }
  sleep_ms(options.slow_start_ms);

  LineReader reader;
  while (const std::optional<std::string> line = reader.next()) {
    const std::string result = perform(options, field(*line, "method"), field(*line, "arg"));
    write_line("{\"id\":" + field(*line, "id") + ",\"result\":\"" + result + "\"}\n");
  }
  if (options.ignore_eof) idle_for_ever();
  return options.exit_code;
}

}  // namespace corral::fakes
