// One process as /proc shows it. Everything here was true when it was read and may be outdated: code that
// acts on a process opens it first and looks again.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corral::survey {

/// The name (comm) of a keeper.
inline constexpr std::string_view kKeeperName = "corral-keeper";

/// What one of the standard descriptors is.
struct Stream {
  enum class Kind : std::uint8_t { Unknown, Closed, Null, Terminal, File, Pipe, Socket };

  Kind kind = Kind::Unknown;  // Unknown: may not be read
  std::uint64_t inode = 0;    // of a pipe or socket; both ends of a pipe have the same

  bool connects() const { return kind == Kind::Pipe || kind == Kind::Socket; }
  bool operator==(const Stream&) const = default;
};

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  int terminal = 0;  // device number of the controlling terminal, 0 = none
  char state = '?';
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t cpu_ticks = 0;    // user and system, so far
  std::string comm;
  std::vector<std::string> argv;       // empty: a kernel thread, a zombie, or not readable
  std::string executable;              // empty if it may not be read
  bool executable_replaced = false;    // the file that runs is no longer there under its name
  std::string directory;               // working directory; empty if it may not be read
  std::array<Stream, 3> streams = {};  // stdin, stdout, stderr
};

}  // namespace corral::survey
