#include "guard/process_view.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/secrets.h"
#include "base/text.h"
#include "keeper/proc_fs.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::guard {
namespace {

constexpr std::size_t kLongestCommandLine = 64 * 1024;
constexpr std::size_t kLongestStat = 4096;
constexpr std::size_t kShown = 200;

std::string read_file(pid_t pid, const char* name, std::size_t at_most) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  return proc::read_whole(AT_FDCWD, path.c_str(), at_most).value_or("");
}

std::string shown_command(const std::vector<std::string>& words) {
  const std::string whole = show_command(words);
  return whole.size() <= kShown ? whole : printable(whole.substr(0, kShown)) + "...";
}

std::chrono::seconds age_of(const ProcessView& process) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  static const long ticks = sysconf(_SC_CLK_TCK);
  const auto started = static_cast<long>(process.start_ticks) / (ticks > 0 ? ticks : 100);
  return std::chrono::seconds(std::max(0L, now.tv_sec - started));
}

}  // namespace

std::optional<ProcessView> look_at(pid_t pid) {
  const std::string text = read_file(pid, "stat", kLongestStat);
  const std::optional<proc::ProcessStat> stat = proc::parse_process_stat(text);
  if (!stat) return std::nullopt;
  return ProcessView{pid, stat->parent, stat->state, stat->start_ticks};
}

std::vector<std::string> command_line(pid_t pid) {
  return proc::parse_strings(read_file(pid, "cmdline", kLongestCommandLine));
}

Description describe(const ProcessView& process) {
  Description description;
  description.age = age_of(process);
  description.memory = keeper::memory_of(process.pid);
  description.command = shown_command(command_line(process.pid));
  if (description.command.empty()) {
    char comm[16];
    keeper::read_comm(process.pid, comm);
    description.command = printable(comm);
  }
  return description;
}

}  // namespace corral::guard
