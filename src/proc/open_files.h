// The soft limit of open files of this process, RLIMIT_NOFILE, and whoever raises it for a while because it
// needs many descriptors at once. Several may, on any thread; the last one puts back what the first found.
// Nobody lowers it: a keeper does that for itself (keeper/main.cc).
#pragma once

#include <cstdint>

namespace corral::proc {

/// The soft limit now.
std::uint64_t soft_open_files();

/// As many as this process may have, for as long as any of these lives.
class MoreOpenFiles {
 public:
  MoreOpenFiles();
  ~MoreOpenFiles();
  MoreOpenFiles(const MoreOpenFiles&) = delete;
  MoreOpenFiles& operator=(const MoreOpenFiles&) = delete;

  std::uint64_t most() const { return most_; }

 private:
  std::uint64_t most_ = 0;
};

}  // namespace corral::proc
