// Parses the texts of /proc. Pure. A process chooses its own name and command line, and a test or an attacker
// can write any text, so nothing in it is trusted: what does not parse is an empty result.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corral::proc {

/// A decimal number at the start of `text`, which is removed from it. Empty if there is none or it is too
/// large.
std::optional<std::uint64_t> take_number(std::string_view& text);

/// The whole of `text` as a number.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// Removes the next word and the spaces before it from `text`. Empty at the end.
std::string_view take_word(std::string_view& text);

/// Removes the next line from `text`, and returns it in `line` without its end. False at the end.
bool take_line(std::string_view& text, std::string_view& line);

/// What follows "name:" at the start of a line, without spaces around it. Empty if there is no such line.
std::string_view value_of(std::string_view text, std::string_view name);

/// /proc/PID/stat.
struct ProcessStat {
  pid_t pid = 0;
  std::string_view comm;  // part of the text that was parsed
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  int terminal = 0;  // device number of the controlling terminal, 0 = none
  bool kernel_thread = false;
  std::uint64_t threads = 0;
  std::uint64_t cpu_ticks = 0;    // user and system
  std::uint64_t start_ticks = 0;  // since boot
};
/// Fields are counted after the last ')': the name of the process may contain anything.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// Strings that end with a NUL byte, as in cmdline and environ. A program may write over them, so a missing
/// last NUL and empty words at the end are normal.
std::vector<std::string> parse_strings(std::string_view text);

/// The inode in the link of a descriptor: 12 for `kind` "socket" and "socket:[12]". Empty for every other
/// link.
std::optional<std::uint64_t> inode_in_link(std::string_view link, std::string_view kind);

}  // namespace corral::proc
