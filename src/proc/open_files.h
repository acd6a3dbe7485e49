// Raises the soft open-file limit of this process (RLIMIT_NOFILE) while code needs many descriptors at
// once. Several holders may exist, on any thread; the last one restores the limit that the first one found.
// Nothing in this process lowers the limit: a keeper does that for itself (keeper/main.cc).
#pragma once

#include <cstdint>

namespace corral::proc {

/// The current soft limit.
std::uint64_t soft_open_files();

/// Raises the soft limit to the hard limit for as long as any of these objects lives.
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
