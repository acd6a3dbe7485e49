#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>

#include "survey/proc_files.h"
#include "survey/process_reader.h"
#include "survey/process_table.h"

// The texts of /proc as values. A process chooses its own name and command line, so nothing here is trusted.

namespace corral::survey {
namespace {

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

/// Some fields may be negative (no terminal's group, niceness); nobody needs those, so they count as 0.
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

bool is_one_of_kind(std::string_view link, std::string_view kind, std::uint64_t& inode) {
  if (!link.starts_with(kind) || !link.ends_with(']')) return false;
  link.remove_prefix(kind.size());
  link.remove_suffix(1);
  const std::optional<std::uint64_t> number = whole_number(link);
  inode = number.value_or(0);
  return number.has_value();
}

bool is_terminal(std::string_view link) {
  if (link == "/dev/console" || link == "/dev/tty") return true;
  if (link.starts_with("/dev/pts/")) return !link.ends_with("/ptmx");
  // tty1, ttyS0, ttyUSB0, ttyAMA0, hvc0
  return link.starts_with("/dev/tty") || link.starts_with("/dev/hvc");
}

}  // namespace

bool parse_stat_line(std::string_view text, Process& process, StatExtra& extra) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  std::string_view head = text.substr(0, open);
  const std::optional<std::uint64_t> pid = whole_number(take_word(head));
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = take_word(rest);
  Fields fields{};
  if (!pid || *pid > INT_MAX || state.size() != 1 || !take_fields(rest, fields)) return false;
  for (const Field id : {Field::Parent, Field::Group, Field::Session, Field::Terminal}) {
    if (fields[id] > INT_MAX) return false;
  }
  process.pid = static_cast<pid_t>(*pid);
  process.comm = text.substr(open + 1, close - open - 1);
  process.state = state.front();
  process.parent = static_cast<pid_t>(fields[Field::Parent]);
  process.group = static_cast<pid_t>(fields[Field::Group]);
  process.session = static_cast<pid_t>(fields[Field::Session]);
  process.terminal = static_cast<int>(fields[Field::Terminal]);
  process.cpu_ticks = fields[Field::UserTime] + fields[Field::SystemTime];
  process.start_ticks = fields[Field::Start];
  extra.kernel_thread = (fields[Field::Flags] & kKernelThreadFlag) != 0;
  extra.threads = fields[Field::Threads];
  return true;
}

bool parse_stat_line(std::string_view text, Process& process) {
  StatExtra extra;
  return parse_stat_line(text, process, extra);
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

Stream parse_stream(std::string_view link) {
  std::uint64_t inode = 0;
  if (is_one_of_kind(link, "pipe:[", inode)) return {Stream::Kind::Pipe, inode};
  if (is_one_of_kind(link, "socket:[", inode)) return {Stream::Kind::Socket, inode};
  if (link == "/dev/null") return {Stream::Kind::Null, 0};
  if (is_terminal(link)) return {Stream::Kind::Terminal, 0};
  return {Stream::Kind::File, 0};
}

}  // namespace corral::survey
