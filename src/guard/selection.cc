#include "guard/selection.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "keeper/proc_fs.h"

namespace corral::guard {
namespace {

constexpr std::size_t kMostProcesses = 8192;  // the sweep also handles this many per pass

bool is_called(pid_t pid, std::string_view name) {
  char comm[16];
  return keeper::read_comm(pid, comm) && name == comm;
}

}  // namespace

std::vector<ProcessView> everything_below_us() {
  std::vector<pid_t> pids(kMostProcesses);
  pids.resize(keeper::descendants(getpid(), pids));
  std::vector<ProcessView> found;
  for (const pid_t pid : pids) {
    const std::optional<ProcessView> process = look_at(pid);
    if (process && process->state != 'Z' && process->state != 'X') found.push_back(*process);
  }
  return found;
}

bool ends_by_itself(pid_t pid) {
  if (is_called(pid, "corral-keeper")) return true;
  if (!is_called(pid, "corral")) return false;
  pid_t below[16];  // its children come first
  const std::size_t count = keeper::descendants(pid, below);
  return std::any_of(below, below + count, [pid](pid_t child) {
    const std::optional<ProcessView> process = look_at(child);
    return process && process->parent == pid && is_called(child, "corral-keeper");
  });
}

bool Selection::kept(const ProcessView& process) {
  if (keep_.empty()) return false;
  const auto known = kept_.find(process.pid);
  if (known != kept_.end() && known->second == process.start_ticks) return true;
  if (!kept_.contains(process.parent) && !matches(process.pid)) return false;
  kept_[process.pid] = process.start_ticks;
  return true;
}

void Selection::look_again(const std::vector<ProcessView>& below) {
  std::map<pid_t, std::uint64_t> still;  // drops dead processes, whose pids may be reused by parents
  for (const ProcessView& process : below) {
    const auto known = kept_.find(process.pid);
    const bool was = known != kept_.end() && known->second == process.start_ticks;
    if (was || still.contains(process.parent) || matches(process.pid))
      still[process.pid] = process.start_ticks;
  }
  kept_ = std::move(still);
  looked_ = keeper::now();
}

bool Selection::spares(pid_t child) {
  if (spare_sessions && ends_by_itself(child)) return true;
  if (keep_.empty()) return false;
  constexpr keeper::Micros kOldView{10'000};
  if (keeper::now() - looked_ > kOldView) look_again(everything_below_us());
  const std::optional<ProcessView> process = look_at(child);
  return process && kept(*process);
}

bool Selection::matches(pid_t pid) const {
  const std::vector<std::string> words = command_line(pid);
  if (words.empty()) return false;
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  const std::string name = words.front().substr(words.front().rfind('/') + 1);
  return std::any_of(keep_.begin(), keep_.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), line.c_str(), 0) == 0 || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace corral::guard
