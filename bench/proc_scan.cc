#include "proc_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>

namespace corral::bench {
namespace {

std::string proc_file(pid_t pid, const char* name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

/// The numbers among the names of a directory: processes, or threads of one.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> pids;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return pids;
  while (const dirent* entry = readdir(dir)) {
    const long pid = strtol(entry->d_name, nullptr, 10);
    if (pid > 0) pids.push_back(static_cast<pid_t>(pid));
  }
  closedir(dir);
  return pids;
}

std::vector<pid_t> all_pids() { return numbers_in("/proc"); }

struct Stat {
  char state = 'Z';
  pid_t parent = 0;
};

// comm may hold spaces and parentheses, so the fields start after the last one.
Stat stat_of(pid_t pid) {
  const std::string text = proc_file(pid, "stat");
  const std::size_t end = text.rfind(')');
  Stat stat;
  if (end == std::string::npos) return stat;
  std::istringstream fields(text.substr(end + 1));
  fields >> stat.state >> stat.parent;
  return stat;
}

bool carries(pid_t pid, const std::string& tag) {
  return proc_file(pid, "environ").find(tag) != std::string::npos ||
         proc_file(pid, "cmdline").find(tag) != std::string::npos;
}

}  // namespace

// Not a stream: a process that ends while its file in /proc is read makes a stream throw.
std::string read_file(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  return text;
}

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (pid_t pid : all_pids()) {
    const Stat stat = stat_of(pid);
    if (stat.state != 'Z') children.emplace(stat.parent, pid);
  }
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

std::string process_name(pid_t pid) {
  std::string comm = proc_file(pid, "comm");
  if (!comm.empty() && comm.back() == '\n') comm.pop_back();
  return comm;
}

Memory memory_of(pid_t pid) {
  Memory memory;
  std::istringstream lines(proc_file(pid, "smaps_rollup"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string key;
    double kib = 0;
    fields >> key >> kib;
    if (key == "Pss:") memory.pss_mb = kib * 1024 / 1e6;
    if (key == "Rss:") memory.rss_mb = kib * 1024 / 1e6;
    if (key == "Pss_Anon:") memory.anonymous_mb = kib * 1024 / 1e6;
  }
  return memory;
}

double wake_ups_of(pid_t pid) {
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:";
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  double sum = 0;
  for (const pid_t thread : numbers_in(threads)) {
    const std::string text = read_file(threads + "/" + std::to_string(thread) + "/status");
    const std::size_t at = text.find(kKey);
    if (at != std::string::npos) sum += strtod(text.c_str() + at + kKey.size(), nullptr);
  }
  return sum;
}

std::vector<pid_t> tagged(const std::string& tag) {
  std::vector<pid_t> found;
  for (pid_t pid : all_pids()) {
    if (pid != getpid() && carries(pid, tag)) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> wait_for_none(const std::string& tag, int seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    std::vector<pid_t> left = tagged(tag);
    if (left.empty() || std::chrono::steady_clock::now() > deadline) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void end_tagged(const std::vector<pid_t>& pids, const std::string& tag) {
  for (pid_t pid : pids) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (pidfd < 0) continue;
    if (carries(pid, tag)) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
    close(pidfd);
  }
}

}  // namespace corral::bench
