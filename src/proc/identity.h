// Who a process is, beyond its pid: numbers are handed out again, and two processes can even share pid and
// start time (the clock behind the start time ticks every 10 ms). What never repeats is the inode of the
// process in the kernel's pidfs within one boot (Linux 6.9); the file handle of a pidfd says the same and can
// be opened again (Linux 6.14).
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
  std::string boot_id;  // empty where /proc is missing
  pid_t pid = 0;
  std::uint64_t pidfs_inode = 0;  // 0 = the kernel has no pidfs
  std::uint64_t start_ticks = 0;  // since boot; alone no proof
  uid_t uid = 0;
  std::vector<std::uint8_t> handle;  // empty = the kernel gives none

  bool operator==(const Identity&) const = default;
};

/// Of the process behind a pidfd, which must not have been reaped.
Result<Identity> identify(int pidfd);

/// What became of a process.
struct Whereabouts {
  std::optional<UniqueFd> process{};  // the same one, opened anew; never another one
  bool known = true;  // false: it may live, but could not be looked for, as without a free descriptor
};
Whereabouts look_for(const Identity& identity);

/// The same process, opened anew; nothing if it is gone or there is any doubt.
std::optional<UniqueFd> reopen(const Identity& identity);

}  // namespace corral::proc
