// Reads what is below /proc: the only reader outside the keeper, which must do without a heap. Stateless; any
// thread may call it.
//
// Every file there may vanish or belong to another process a moment later. So the files of one process are
// read through one open directory, which stays with that process even if its pid is reused. Each read is
// bounded, and each failure (the process is gone, EACCES, EMFILE) is an empty result: the caller decides what
// it means, and must not take it for "nothing there" where that would end a process. proc_texts.h has the
// parsers.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace corral::proc {

/// A directory, for reading its names and as `directory` of the functions below. Invalid, and errno, on
/// failure.
UniqueFd open_directory(int parent, const char* name);

/// The directory of a process: /proc/PID. `root` is another directory in tests only.
UniqueFd open_process(pid_t pid, const std::string& root = "/proc");

/// As much of a file as fits into `buffer`, by one read: the kernel returns these files whole. Empty if it
/// cannot be read. `owner` receives the user that owns the file.
std::optional<std::string_view> read_once(int directory, const char* name, std::span<char> buffer,
                                          uid_t* owner = nullptr);

/// A file up to `most` bytes; the rest is left out. Empty if it cannot be read.
std::optional<std::string> read_whole(int directory, const char* name, std::size_t most);

/// The target of a symbolic link. Empty, and errno, if it cannot be read.
std::string read_link(int directory, const char* name);

/// The names in an open directory. readdir would allocate for each of thousands of directories.
class DirectoryNames {
 public:
  /// Reads on from where `directory` is; the caller keeps it open.
  explicit DirectoryNames(int directory) : directory_(directory) {}

  /// The next name, which ends with a NUL byte and is valid until the next call. Null at the end.
  const char* next();
  /// The next name that is a number from 0 to INT_MAX, such as a pid or a descriptor; skips all others.
  std::optional<int> next_number();

 private:
  int directory_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  alignas(8) std::array<char, 16384> bytes_;
};

/// The pids in an open /proc, in the order of the kernel. Empty if it cannot be read.
std::vector<pid_t> pids_in(int root);

}  // namespace corral::proc
