// What /proc says about one process below guard, for messages and for --keep. The process controls these
// texts, so reads are bounded and displayed text is made printable.
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
  std::uint64_t start_ticks = 0;  // together with the pid it identifies the process
};

/// Empty if the process is gone.
std::optional<ProcessView> look_at(pid_t pid);

/// The arguments of the process; empty for a process without a command line, such as a zombie.
std::vector<std::string> command_line(pid_t pid);

/// For messages. Recorded while the process is alive, because it cannot be read afterwards.
struct Description {
  std::chrono::seconds age{0};
  std::uint64_t memory = 0;
  std::string command;  // printable, without what looks like a secret, 200 characters at most
};

Description describe(const ProcessView& process);

}  // namespace corral::guard
