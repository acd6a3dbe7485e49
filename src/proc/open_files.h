// The soft limit of open files of this process, RLIMIT_NOFILE, and the two who change it for a while: a
// spawn, which lowers it for the child, and whoever needs many descriptors at once. They run on different
// threads, and each puts back what it found. One lock sees to it that neither finds what the other has only
// borrowed.
#pragma once

#include <cstdint>

namespace corral::proc {

/// The soft limit now.
std::uint64_t soft_open_files();

/// For as long as it lives: a child inherits the soft limit, and some programs walk through all of it. Nobody
/// else changes it meanwhile, so do not keep it for long.
class LowerOpenFiles {
 public:
  explicit LowerOpenFiles(std::uint64_t soft);
  ~LowerOpenFiles();
  LowerOpenFiles(const LowerOpenFiles&) = delete;
  LowerOpenFiles& operator=(const LowerOpenFiles&) = delete;

 private:
  std::uint64_t before_ = 0;
  bool lowered_ = false;
};

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
