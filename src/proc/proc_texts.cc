#include "proc/proc_texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>

namespace corral::proc {
namespace {

constexpr std::string_view kBlanks = " \t\n";

/// Fields of the stat line as `man 5 proc` counts them; the name is the second.
enum Field : std::size_t {
  Parent = 4,
  Group = 5,
  Session = 6,
  Terminal = 7,
  Flags = 9,
  UserTime = 14,
  SystemTime = 15,
  Threads = 20,
  Start = 22,
  Count = 23,
};

constexpr std::uint64_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD in include/linux/sched.h

using Fields = std::array<std::uint64_t, Field::Count>;

/// Some fields may be negative (no terminal's group, niceness). None of them is needed, so they count as 0.
bool take_fields(std::string_view text, Fields& fields) {
  for (std::size_t field = Field::Parent; field < Field::Count; ++field) {
    std::string_view word = take_word(text);
    const bool negative = word.starts_with('-');
    if (negative) word.remove_prefix(1);
    const std::optional<std::uint64_t> number = whole_number(word);
    if (!number) return false;
    fields[field] = negative ? 0 : *number;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  const std::optional<std::uint64_t> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return true;
}

std::string_view value_of(std::string_view text, std::string_view name) {
  for (std::string_view line; take_line(text, line);) {
    if (!line.starts_with(name) || line.size() == name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    return line.substr(0, line.find_last_not_of(kBlanks) + 1);
  }
  return {};
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  std::string_view head = text.substr(0, open);
  const std::optional<std::uint64_t> pid = whole_number(take_word(head));
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = take_word(rest);
  Fields fields{};
  if (!pid || *pid > INT_MAX || state.size() != 1 || !take_fields(rest, fields)) return std::nullopt;
  for (const Field id : {Field::Parent, Field::Group, Field::Session, Field::Terminal}) {
    if (fields[id] > INT_MAX) return std::nullopt;
  }
  ProcessStat stat;
  stat.pid = static_cast<pid_t>(*pid);
  stat.comm = text.substr(open + 1, close - open - 1);
  stat.state = state.front();
  stat.parent = static_cast<pid_t>(fields[Field::Parent]);
  stat.group = static_cast<pid_t>(fields[Field::Group]);
  stat.session = static_cast<pid_t>(fields[Field::Session]);
  stat.terminal = static_cast<int>(fields[Field::Terminal]);
  stat.kernel_thread = (fields[Field::Flags] & kKernelThreadFlag) != 0;
  stat.threads = fields[Field::Threads];
  stat.cpu_ticks = fields[Field::UserTime] + fields[Field::SystemTime];
  stat.start_ticks = fields[Field::Start];
  return stat;
}

std::vector<std::string> parse_strings(std::string_view text) {
  // A program that writes its title over its arguments fills what is left with NULs.
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  std::vector<std::string> strings;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    strings.emplace_back(one);
    text.remove_prefix(std::min(one.size() + 1, text.size()));
  }
  return strings;
}

std::optional<std::uint64_t> inode_in_link(std::string_view link, std::string_view kind) {
  if (!link.starts_with(kind) || !link.ends_with(']')) return std::nullopt;
  link.remove_prefix(kind.size());
  if (!link.starts_with(":[")) return std::nullopt;
  return whole_number(link.substr(2, link.size() - 3));
}

}  // namespace corral::proc
