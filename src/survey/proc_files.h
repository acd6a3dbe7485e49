// Short, bounded reads of what is below /proc. Everything there may be gone or be somebody else's a moment
// later, so the files of one process are read through one open directory: it stays with that process even if
// its pid does not.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral::survey {

UniqueFd open_directory(int parent, const char* name);

/// As much of a file as fits, by a single read: the kernel gives these files whole. Nothing if it may not be
/// read.
std::optional<std::string_view> read_once(int directory, const char* name, std::span<char> buffer);

/// A file of any length up to `most` bytes; what is beyond is left out. Nothing if it may not be read.
std::optional<std::string> read_whole(int directory, const char* name, std::size_t most);

/// Where a symbolic link leads; empty, and errno, if it may not be known.
std::string read_link(int directory, const char* name);

/// A number in decimal at the start of `text`, which is shortened by it. Nothing if there is none or it is
/// too large.
std::optional<std::uint64_t> take_number(std::string_view& text);

/// The whole of `text` as a number.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// The next word and the blanks before it are taken from `text`; empty at its end.
std::string_view take_word(std::string_view& text);

/// The next line without its end is taken from `text`; false at its end.
bool take_line(std::string_view& text, std::string_view& line);

/// What follows "name:" at the start of a line, without blanks around it; empty if there is no such line.
std::string_view value_of(std::string_view text, std::string_view name);

/// The names in an open directory. Not readdir: that would allocate for each of thousands of directories.
class DirectoryNames {
 public:
  explicit DirectoryNames(int directory) : directory_(directory) {}

  /// The next name, which ends in NUL; null at the end.
  const char* next();

 private:
  int directory_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  alignas(8) std::array<char, 16384> bytes_;
};

}  // namespace corral::survey
