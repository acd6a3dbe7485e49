// Finds keepers of another corral below this process, for example in a gateway that wraps its own backends.
// They must not be killed like ordinary processes: each of them ends its own tree and then runs its
// terminators. The janitor and the daemon also use this to distinguish keepers from orphans.
#pragma once

#include <sys/types.h>

#include <span>

namespace corral::keeper {

/// Identifies a file even when it is renamed or replaced: an in-place upgrade puts another file at its path.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;  // 0 = unknown

  bool operator==(const FileId&) const = default;
};

/// The file that a path or a link in /proc refers to, as far as the kernel has it cached.
FileId file_id(const char* path);

/// Whether this process is a keeper or a janitor: its name and the name of its file say so (the file may
/// belong to another installation), or one of them does and it executes `helper`. A process can fake the
/// name. It is then waited for like a keeper, for a bounded time, and ended afterwards.
bool is_keeper(pid_t pid, const FileId& helper);

/// Whether any process below `root` is a keeper. Examines the 512 processes nearest to the root: keepers are
/// near the root, and a fork storm must not delay the caller.
bool any_keeper_below(pid_t root, const FileId& helper);

/// Lists the processes below `root` including keepers, but not the processes that such a keeper holds.
std::size_t outside_keepers_below(pid_t root, const FileId& helper, std::span<pid_t> found);

}  // namespace corral::keeper
