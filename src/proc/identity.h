// Identifies a process beyond its pid: pids are reused, and two processes can even share pid and start time
// (start times have a resolution of 10 ms). The process's inode in the kernel's pidfs never repeats within
// one boot (Linux 6.9); the file handle of a pidfd is equivalent and can be opened again (Linux 6.14).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::proc {

struct Identity {
  std::string boot_id;  // empty if /proc is missing
  pid_t pid = 0;
  std::uint64_t pidfs_inode = 0;  // 0 = the kernel has no pidfs
  std::uint64_t start_ticks = 0;  // since boot; not sufficient as proof
  uid_t uid = 0;
  std::vector<std::uint8_t> handle;  // empty = the kernel provides none

  bool operator==(const Identity&) const = default;
};

/// Identifies the process of a pidfd. The process must not have been reaped.
Result<Identity> identify(int pidfd);

/// The pid of the process of a pidfd, as this PID namespace numbers it. Not positive if the process was
/// reaped or is not visible here.
pid_t pid_behind(int pidfd);

/// The result of looking for a process.
struct Whereabouts {
  std::optional<UniqueFd> process{};  // the same process, never another one
  bool known =
      true;  // false: it may be alive but could not be looked up, for example without a free descriptor
};
Whereabouts look_for(const Identity& identity);

/// Opens the same process again; empty if it is gone or in doubt.
std::optional<UniqueFd> reopen(const Identity& identity);

}  // namespace corral::proc
