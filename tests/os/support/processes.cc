#include "support/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <random>
#include <sstream>

#include "support/eventually.h"

namespace corral::os_tests {
namespace {

// Not a stream: the process may be gone a millisecond later, so the way to its files must be short.
std::string read_whole(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char bytes[16384];
  for (ssize_t got = read(fd, bytes, sizeof bytes); got > 0; got = read(fd, bytes, sizeof bytes)) {
    text.append(bytes, static_cast<std::size_t>(got));
  }
  close(fd);
  return text;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return pids;
  while (const dirent* const entry = readdir(directory)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0) pids.push_back(pid);
  }
  closedir(directory);
  // Newest first: a process that lives for a millisecond is then looked at before it is gone.
  std::sort(pids.begin(), pids.end(), std::greater<>());
  return pids;
}

bool carries(pid_t pid, const std::string& tag) {
  const std::string directory = "/proc/" + std::to_string(pid);
  return read_whole(directory + "/cmdline").find(tag) != std::string::npos ||
         read_whole(directory + "/environ").find(tag) != std::string::npos;
}

// While a program is being executed, it has neither arguments nor an environment. A thread of the kernel
// never has, but has no program either.
bool is_being_executed(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  char link[1];
  return readlink((directory + "/exe").c_str(), link, sizeof link) > 0 &&
         read_whole(directory + "/cmdline").empty() && read_whole(directory + "/environ").empty();
}

// True if there was something to end, or may be in a moment.
bool end_if_tagged(pid_t pid, const std::string& tag) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return false;
  const bool unclear = is_being_executed(pid);
  const bool ours = carries(pid, tag);
  if (ours) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  close(pidfd);
  return ours || unclear;
}

}  // namespace

void PrintTo(const Process& process, std::ostream* out) {
  *out << process.comm << '[' << process.pid << " parent " << process.parent << " state " << process.state
       << ']';
}

std::string new_tag() {
  std::random_device random;
  std::ostringstream tag;
  tag << "corral-os-test-" << getpid() << '-' << std::hex << random() << random();
  return tag.str();
}

std::optional<Process> process_by_pid(pid_t pid) {
  const std::string stat = read_whole("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  Process process;
  process.pid = pid;
  process.comm = stat.substr(open + 1, close - open - 1);
  std::istringstream rest(stat.substr(close + 1));
  rest >> process.state >> process.parent >> process.group >> process.session;
  return process;
}

std::vector<Process> tagged(const std::string& tag) {
  std::vector<Process> found;
  for (const pid_t pid : all_pids()) {
    if (pid == getpid() || !carries(pid, tag)) continue;
    if (const auto process = process_by_pid(pid)) found.push_back(*process);
  }
  return found;
}

std::vector<Process> survivors(const std::string& tag) {
  for (int pass = 0; pass < 3; ++pass) {
    auto found = tagged(tag);
    if (!found.empty()) return found;
  }
  return {};
}

void end_tagged(const std::string& tag) {
  eventually([&] {
    constexpr int kMostPasses = 300;  // a stranger may look as if it were being executed for ever
    bool found = true;
    int passes = 0;
    for (int clean_passes = 0; clean_passes < 3 && passes < kMostPasses;
         clean_passes = found ? 0 : clean_passes + 1) {
      ++passes;
      found = false;
      for (const pid_t pid : all_pids()) found = (pid != getpid() && end_if_tagged(pid, tag)) || found;
    }
    return survivors(tag).empty();
  });
}

std::optional<Process> find_keeper(const std::string& tag, pid_t outer) {
  const auto all = tagged(tag);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Process& process) {
    return process.parent == outer && process.comm.starts_with("corral-keeper");
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::optional<Process> find_server(const std::string& tag) {
  const auto all = tagged(tag);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const Process& process) { return process.comm == "adv-server"; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::string link_of(pid_t pid, int fd) {
  char target[4096];
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string("no link") : std::string(target, static_cast<std::size_t>(length));
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

bool kill_now(pid_t pid) { return kill(pid, SIGKILL) == 0; }

}  // namespace corral::os_tests
