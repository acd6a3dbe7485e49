#include "survey/tree_usage.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <unordered_set>

#include "base/text.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"
#include "survey/details.h"

namespace corral::survey {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMostSeconds = 100ULL * 365 * 24 * 3600;  // no machine is up for longer

/// What the pass keeps of every process. Most of them are in none of the trees.
struct Relative {
  pid_t parent = 0;
  pid_t pid = 0;
  char state = '?';
  std::uint64_t cpu_ticks = 0;
  std::uint64_t start_ticks = 0;
  std::array<char, 16> comm{};  // TASK_COMM_LEN in include/linux/sched.h; only kernel threads have more
  std::uint8_t comm_size = 0;
};

class TreeMeasure {
 public:
  /// `proc` is `directory`, opened.
  TreeMeasure(int proc, const std::string& directory)
      : proc_(proc), directory_(directory), per_second_(sysconf(_SC_CLK_TCK)) {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    now_ = static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
  }

  void look_at_all() {
    proc::DirectoryNames names(proc_);
    while (const char* const name = names.next()) look_at(name);
    const auto by_parent = [](const Relative& a, const Relative& b) {
      return a.parent != b.parent ? a.parent < b.parent : a.pid < b.pid;
    };
    std::sort(relatives_.begin(), relatives_.end(), by_parent);
  }

  bool exists(pid_t pid) const { return pids_.contains(pid); }

  /// A process is in a tree once: a loop, which only a made-up /proc or a reused pid can show, ends there.
  TreeUsage below(pid_t root) {
    TreeUsage usage;
    std::unordered_set<pid_t> met{root};
    std::vector<const Relative*> next;
    push_children(root, next);
    while (!next.empty()) {
      const Relative& relative = *next.back();
      next.pop_back();
      if (!met.insert(relative.pid).second) continue;
      usage.processes.push_back(usage_of(relative));
      usage.memory += usage.processes.back().memory;
      usage.cpu += usage.processes.back().cpu;
      push_children(relative.pid, next);
    }
    return usage;
  }

 private:
  void look_at(const char* name) {
    const std::optional<std::uint64_t> pid = proc::whole_number(name);
    if (!pid || *pid == 0 || *pid > INT_MAX) return;  // "self", "meminfo", …
    const std::optional<std::string_view> text = proc::read_once(proc_, path_of(name, "/stat"), buffer_);
    const std::optional<proc::ProcessStat> stat = text ? proc::parse_process_stat(*text) : std::nullopt;
    if (!stat) return;
    Relative relative;
    relative.parent = stat->parent;
    relative.pid = static_cast<pid_t>(*pid);
    relative.state = stat->state;
    relative.cpu_ticks = stat->cpu_ticks;
    relative.start_ticks = stat->start_ticks;
    relative.comm_size =
        static_cast<std::uint8_t>(stat->comm.copy(relative.comm.data(), relative.comm.size()));
    relatives_.push_back(relative);
    pids_.insert(relative.pid);
  }

  /// Valid until the next call. Two opens per process, of its directory and of the file, would be too many.
  const char* path_of(std::string_view pid, std::string_view file) {
    path_.assign(pid);
    path_.append(file);
    return path_.c_str();
  }

  /// The last one on top, so that the first comes first.
  void push_children(pid_t parent, std::vector<const Relative*>& stack) const {
    const auto first =
        std::lower_bound(relatives_.begin(), relatives_.end(), parent,
                         [](const Relative& relative, pid_t pid) { return relative.parent < pid; });
    auto last = first;
    while (last != relatives_.end() && last->parent == parent) ++last;
    for (auto child = last; child != first;) stack.push_back(&*--child);
  }

  ProcessUsage usage_of(const Relative& relative) {
    ProcessUsage usage;
    usage.pid = relative.pid;
    usage.parent = relative.parent;
    usage.name = printable(std::string(relative.comm.data(), relative.comm_size));
    usage.state = relative.state > ' ' && relative.state < 0x7f ? relative.state : '?';
    // 0 if it has exited meanwhile, or is a zombie.
    usage.memory = read_memory(relative.pid, directory_).footprint();
    usage.cpu = time_of(relative.cpu_ticks);
    const auto started = static_cast<std::uint64_t>(time_of(relative.start_ticks).count());
    usage.age = milliseconds(started < now_ ? now_ - started : 0);
    return usage;
  }

  milliseconds time_of(std::uint64_t ticks) const {
    const auto rate = static_cast<std::uint64_t>(per_second_);
    ticks = std::min(ticks, kMostSeconds * rate);
    return milliseconds(ticks / rate * 1000 + ticks % rate * 1000 / rate);
  }

  int proc_;
  const std::string& directory_;
  long per_second_;
  std::uint64_t now_ = 0;  // ms since boot, sleep included: what start times are counted in
  std::vector<Relative> relatives_;
  std::unordered_set<pid_t> pids_;
  std::string path_;
  std::array<char, 8192> buffer_;
};

}  // namespace

std::map<pid_t, TreeUsage> measure_trees(const std::vector<pid_t>& roots, const std::string& proc) {
  std::map<pid_t, TreeUsage> trees;
  if (roots.empty()) return trees;
  const UniqueFd directory = proc::open_directory(AT_FDCWD, proc.c_str());
  if (!directory.valid()) return trees;
  TreeMeasure measure(directory.get(), proc);
  measure.look_at_all();
  for (const pid_t root : roots) {
    if (measure.exists(root) && !trees.contains(root)) trees.emplace(root, measure.below(root));
  }
  return trees;
}

}  // namespace corral::survey
