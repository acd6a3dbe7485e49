#include "guard/process_view.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/secrets.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "keeper/proc_fs.h"

namespace corral::guard {
namespace {

constexpr std::size_t kLongestCommandLine = 64 * 1024;
constexpr std::size_t kShown = 200;

std::string read_file(pid_t pid, const char* name, std::size_t at_most) {
  const UniqueFd file(open(("/proc/" + std::to_string(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> piece{};
  while (file.valid() && text.size() < at_most) {
    const ssize_t got = read(file.get(), piece.data(), std::min(piece.size(), at_most - text.size()));
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// Field 22 of /proc/PID/stat; `rest` begins with field 3.
std::uint64_t start_ticks_in(std::string_view rest) {
  for (int field = 3; field < 22; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return 0;
    rest.remove_prefix(space + 1);
  }
  std::uint64_t ticks = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
  return ticks;
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
  const std::string text = read_file(pid, "stat", 4096);
  keeper::StatLine line;
  if (!keeper::parse_stat(text.data(), text.size(), line)) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(text.rfind(')') + 2);
  return ProcessView{pid, line.parent, line.state, start_ticks_in(rest)};
}

std::vector<std::string> command_line(pid_t pid) {
  const std::string text = read_file(pid, "cmdline", kLongestCommandLine);
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  // A program that writes a title over its arguments leaves empty words at the end.
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words;
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
