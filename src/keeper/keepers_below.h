// Which processes are keepers of another corral below us, as of a gateway that wraps its own backends. They
// must not be ended like anybody: each of them ends its own tree, and then runs what belongs to that end.
// Also for the janitor and the daemon, which tell keepers from orphans.
#pragma once

#include <sys/types.h>

#include <span>

namespace corral::keeper {

/// A file by what stays when it is renamed or replaced: an upgrade in place gives its path to another file.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;  // 0 = not known

  bool operator==(const FileId&) const = default;
};

/// The file behind a path or a link of /proc, as far as the kernel knows it already.
FileId file_id(const char* path);

/// Whether this process is a keeper or a janitor: it is called like one and runs a file of that name, which
/// may be of another installation, or one of the two is so and it runs `helper`. The name can be pretended.
/// Whoever does so is waited for, for a bounded time, and ended then.
bool is_keeper(pid_t pid, const FileId& helper);

/// Whether any process below `root` is one. Looks at the 512 that are nearest to the root: keepers are near
/// it, and a storm of processes must not hold us up.
bool any_keeper_below(pid_t root, const FileId& helper);

/// The processes below `root` and the keepers among them, but nobody whom such a keeper holds.
std::size_t outside_keepers_below(pid_t root, const FileId& helper, std::span<pid_t> found);

}  // namespace corral::keeper
