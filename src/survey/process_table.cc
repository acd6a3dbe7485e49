#include "survey/process_table.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <unordered_set>

#include "proc/proc_files.h"
#include "proc/proc_texts.h"
#include "survey/hidden_processes.h"
#include "survey/process_reader.h"

namespace corral::survey {
namespace {

constexpr const char* kRealProc = "/proc";

/// Since boot, sleep included: what the kernel counts start times in.
std::uint64_t boot_ticks(long per_second) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto rate = static_cast<std::uint64_t>(per_second);
  return static_cast<std::uint64_t>(now.tv_sec) * rate +
         static_cast<std::uint64_t>(now.tv_nsec) * rate / 1'000'000'000U;
}

Error unreadable_proc(const std::string& proc, const std::string& why) {
  return {"cannot list the processes: " + proc + " " + why +
          "; corral reads everything about processes there: mount it (`mount -t proc proc /proc`)"};
}

/// A pid there must mean the same process as in a system call of this process, or corral would act on others.
std::optional<Error> why_not_our_proc(int directory) {
  struct statfs system {};
  if (fstatfs(directory, &system) != 0 || system.f_type != PROC_SUPER_MAGIC) {
    return unreadable_proc(kRealProc, "is not a proc file system");
  }
  const std::optional<std::string> status = proc::read_whole(directory, "self/status", 65536);
  if (status && proc::whole_number(proc::value_of(*status, "NSpid")) == static_cast<std::uint64_t>(getpid()))
    return {};
  // Kernels before 4.1 have no NSpid.
  const bool old = status && proc::value_of(*status, "NSpid").empty();
  if (old && proc::read_link(directory, "self") == std::to_string(getpid())) return {};
  return Error{
      "cannot list the processes: /proc belongs to another PID namespace, so its pids mean other "
      "processes; mount "
      "one that fits (`mount -t proc proc /proc`, or `unshare --mount-proc`)"};
}

}  // namespace

Result<ProcessTable> ProcessTable::read(const std::string& proc) {
  const UniqueFd directory = proc::open_directory(AT_FDCWD, proc.c_str());
  if (!directory.valid()) return unreadable_proc(proc, std::string("cannot be opened: ") + strerror(errno));
  if (proc == kRealProc) {
    if (std::optional<Error> error = why_not_our_proc(directory.get())) return std::move(*error);
  }
  ProcessReader reader(directory.get());
  std::vector<Process> processes;
  proc::DirectoryNames names(directory.get());
  while (const char* const name = names.next()) {
    if (std::optional<Process> process = reader.read(name)) processes.push_back(std::move(*process));
  }
  if (processes.empty()) return unreadable_proc(proc, "has no process in it, not even this one");
  const long per_second = sysconf(_SC_CLK_TCK);
  ProcessTable table(std::move(processes), reader.take_holdings(), boot_ticks(per_second), per_second);
  table.unreadable_ = reader.unreadable();
  table.others_hidden_ = table.find(1) == nullptr || hides_processes(directory.get(), proc);
  return table;
}

ProcessTable::ProcessTable(std::vector<Process> processes, std::vector<Holding> holdings,
                           std::uint64_t ticks_now, long ticks_per_second)
    : processes_(std::move(processes)),
      holdings_(std::move(holdings)),
      ticks_now_(ticks_now),
      ticks_per_second_(ticks_per_second > 0 ? ticks_per_second : 100) {
  index();
}

void ProcessTable::index() {
  const auto by_pid = [](const Process& one, const Process& other) { return one.pid < other.pid; };
  const auto same_pid = [](const Process& one, const Process& other) { return one.pid == other.pid; };
  std::stable_sort(processes_.begin(), processes_.end(), by_pid);
  // A pid that was reused while the directory was read may be in the list twice.
  processes_.erase(std::unique(processes_.begin(), processes_.end(), same_pid), processes_.end());
  std::sort(holdings_.begin(), holdings_.end(), [](const Holding& one, const Holding& other) {
    return std::tie(one.inode, one.pid, one.fd) < std::tie(other.inode, other.pid, other.fd);
  });
  by_pid_.reserve(processes_.size());
  for (std::size_t at = 0; at < processes_.size(); ++at) {
    const Process& process = processes_[at];
    by_pid_.emplace(process.pid, at);
    if (process.parent != process.pid) children_[process.parent].push_back(process.pid);
  }
}

const Process* ProcessTable::find(pid_t pid) const {
  const auto found = by_pid_.find(pid);
  return found == by_pid_.end() ? nullptr : &processes_[found->second];
}

std::span<const pid_t> ProcessTable::children(pid_t pid) const {
  const auto found = children_.find(pid);
  return found == children_.end() ? std::span<const pid_t>() : std::span<const pid_t>(found->second);
}

std::vector<pid_t> ProcessTable::tree(pid_t pid) const {
  if (find(pid) == nullptr) return {};
  // The table is not a snapshot of one moment: parents that were read at different times can form a ring.
  std::vector<pid_t> members{pid};
  std::unordered_set<pid_t> met{pid};
  for (std::size_t at = 0; at < members.size(); ++at) {
    for (const pid_t child : children(members[at])) {
      if (met.insert(child).second) members.push_back(child);
    }
  }
  return members;
}

std::vector<pid_t> ProcessTable::ancestors(pid_t pid) const {
  std::vector<pid_t> line;
  std::unordered_set<pid_t> met{pid};
  const Process* process = find(pid);
  while (process != nullptr) {
    process = find(process->parent);
    if (process == nullptr || !met.insert(process->pid).second) break;
    line.push_back(process->pid);
  }
  return line;
}

std::span<const Holding> ProcessTable::holders(std::uint64_t inode) const {
  const auto first =
      std::lower_bound(holdings_.begin(), holdings_.end(), inode,
                       [](const Holding& one, std::uint64_t other) { return one.inode < other; });
  const auto last =
      std::find_if(first, holdings_.end(), [&](const Holding& one) { return one.inode != inode; });
  return {first, last};
}

std::chrono::milliseconds ProcessTable::age(const Process& process) const {
  if (process.start_ticks >= ticks_now_) return std::chrono::milliseconds(0);
  const auto rate = static_cast<std::uint64_t>(ticks_per_second_);
  // No machine is up for longer, and a point in time before 1700 cannot be written in nanoseconds.
  constexpr std::uint64_t kLongestSeconds = 100ULL * 365 * 24 * 3600;
  const std::uint64_t ticks = std::min(ticks_now_ - process.start_ticks, kLongestSeconds * rate);
  return std::chrono::milliseconds(ticks / rate * 1000 + ticks % rate * 1000 / rate);
}

std::chrono::system_clock::time_point ProcessTable::started(const Process& process) const {
  return now_ - age(process);
}

}  // namespace corral::survey
