// What /proc says about one process below us, for people and for --keep. All of it is the process's own word
// and may be anything: reads are bounded, and what is shown is made printable.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corral::guard {

struct ProcessView {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;  // with the pid: the same process, as far as anybody below us can tell
};

/// Nothing if it is gone.
std::optional<ProcessView> look_at(pid_t pid);

/// The words of the command line; of a process without one (a zombie) none.
std::vector<std::string> command_line(pid_t pid);

/// For people, written down while the process lives: afterwards nobody knows.
struct Description {
  std::chrono::seconds age{0};
  std::uint64_t memory = 0;
  std::string command;  // printable, without what looks like a secret, 200 characters at most
};

Description describe(const ProcessView& process);

}  // namespace corral::guard
