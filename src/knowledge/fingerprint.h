// Which files a running server was started from, so that a later change of them is seen. Learned from the
// processes themselves: launchers such as npx never change.
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

/// Of the process in the tree below (and with) `server` that reads its standard input from the pipe with this
/// inode: its executable, its script, and the package manifest and lock file nearest above that.
Fingerprint learn_fingerprint(pid_t server, std::uint64_t input_inode);

/// "/srv/tools.py has changed", "/srv/tools.py is gone"; nothing if all is as it was.
std::optional<std::string> what_changed(const Fingerprint& fingerprint);

}  // namespace corral::knowledge
