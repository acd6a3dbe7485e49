// Which files a running server was started from, so that a later change to them is noticed. Read from the
// running processes, because the configured command is often a launcher such as npx, which does not change.
// Reads /proc and the file system; called on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corral::knowledge {

struct FilePrint {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FilePrint&) const = default;
};

struct Fingerprint {
  std::vector<FilePrint> files;  // empty = nothing is known

  bool operator==(const Fingerprint&) const = default;
};

/// Finds the process in the tree of `server` that reads its standard input from the pipe with this inode, and
/// returns its executable, its script, and the nearest package manifest and lock file above the script. Empty
/// if there is no such process or corral may not read it.
Fingerprint learn_fingerprint(pid_t server, std::uint64_t input_inode);

/// "/srv/tools.py has changed" or "/srv/tools.py is gone"; nothing if no file has changed.
std::optional<std::string> what_changed(const Fingerprint& fingerprint);

}  // namespace corral::knowledge
