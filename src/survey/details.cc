#include "survey/details.h"

#include <fcntl.h>

#include <limits>
#include <optional>

#include "keeper/launch.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::survey {
namespace {

constexpr std::size_t kLongestEnvironment = 1024 * 1024;
constexpr std::size_t kLongestFile = 65536;

void read_environment(int directory, Details& details) {
  std::optional<std::string> text = proc::read_whole(directory, "environ", kLongestEnvironment);
  if (!text) return;
  details.environment_readable = true;
  if (text->size() == kLongestEnvironment) {  // a value that was cut must not be compared
    text->resize(text->find_last_of('\0') + 1);
  }
  details.environment = proc::parse_strings(*text);
  std::erase_if(details.environment,
                [](const std::string& one) { return one.find('=') == std::string::npos; });
}

/// "0::/user.slice/…" is the unified hierarchy; "1:name=systemd:/…" is what older systems have.
std::string parse_cgroup(std::string_view text) {
  std::string_view best;
  int rank = 0;
  for (std::string_view line; proc::take_line(text, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    int worth = 1;
    if (controllers == "name=systemd") worth = 2;
    if (line.starts_with("0::")) worth = 3;
    // A machine with both has an empty unified hierarchy: everything is at its root.
    if (worth == 3 && line.substr(second + 1) == "/" && rank == 2) continue;
    if (worth <= rank) continue;
    rank = worth;
    best = line.substr(second + 1);
  }
  return std::string(best);
}

/// "Max realtime timeout      950000               1000000              us"
std::uint64_t parse_rttime_limit(std::string_view limits) {
  constexpr std::string_view kName = "Max realtime timeout ";
  for (std::string_view line; proc::take_line(limits, line);) {
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    proc::take_word(line);  // the soft one
    const std::string_view hard = proc::take_word(line);
    if (hard == "unlimited") return std::numeric_limits<std::uint64_t>::max();
    return proc::whole_number(hard).value_or(0);
  }
  return 0;
}

/// One number per PID namespace, from this one down to its own.
bool has_several_pids(std::string_view numbers) {
  proc::take_word(numbers);
  return !proc::take_word(numbers).empty();
}

std::uint64_t kilobytes(std::string_view text, std::string_view name) {
  std::string_view value = proc::value_of(text, name);
  const std::optional<std::uint64_t> number = proc::take_number(value);
  constexpr std::uint64_t kMost =
      std::numeric_limits<std::uint64_t>::max() / 1024 / 4'194'304;  // sums of all pids stay in range
  return number && *number < kMost ? *number * 1024 : 0;
}

}  // namespace

Details read_details(pid_t pid, const std::string& proc) {
  Details details;
  const UniqueFd directory = proc::open_process(pid, proc);
  if (!directory.valid()) return details;
  read_environment(directory.get(), details);
  details.cgroup = parse_cgroup(proc::read_whole(directory.get(), "cgroup", kLongestFile).value_or(""));
  details.rttime_limit =
      parse_rttime_limit(proc::read_whole(directory.get(), "limits", kLongestFile).value_or(""));
  const std::string status = proc::read_whole(directory.get(), "status", kLongestFile).value_or("");
  const std::uint64_t tracer = proc::whole_number(proc::value_of(status, "TracerPid")).value_or(0);
  details.tracer = tracer <= std::numeric_limits<pid_t>::max() ? static_cast<pid_t>(tracer) : 0;
  const std::string ours = proc::read_link(AT_FDCWD, (proc + "/self/ns/pid").c_str());
  const std::string theirs = proc::read_link(directory.get(), "ns/pid");
  details.in_other_pid_namespace = has_several_pids(proc::value_of(status, "NSpid")) ||
                                   (!ours.empty() && !theirs.empty() && ours != theirs);
  return details;
}

Memory read_memory(pid_t pid, const std::string& proc) {
  Memory memory;
  const UniqueFd directory = proc::open_process(pid, proc);
  if (!directory.valid()) return memory;
  if (const auto rollup = proc::read_whole(directory.get(), "smaps_rollup", kLongestFile);
      rollup && !rollup->empty()) {
    memory.resident = kilobytes(*rollup, "Rss");
    memory.proportional = kilobytes(*rollup, "Pss");
    const bool shares = !proc::value_of(*rollup, "SwapPss").empty();
    memory.swapped = kilobytes(*rollup, shares ? "SwapPss" : "Swap");
    return memory;
  }
  const std::string status = proc::read_whole(directory.get(), "status", kLongestFile).value_or("");
  memory.resident = kilobytes(status, "VmRSS");
  memory.swapped = kilobytes(status, "VmSwap");
  return memory;
}

bool is_rlimit_tag(std::uint64_t limit) {
  constexpr std::uint64_t kLargestTag = 1ULL << 62;
  return limit >= keeper::kSmallestTag && limit <= kLargestTag;
}

}  // namespace corral::survey
