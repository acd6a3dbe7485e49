// The files in which the daemon keeps what one server writes to stderr, read from the oldest on and followed
// over rotations. Files may be gone, cut or rotated at any moment; every byte of them is foreign.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace corral::cli {

/// One line: "2026-11-16T03:40:00.123Z 1a2b3c4d text".
struct KeptLine {
  std::int64_t time_ms = 0;
  std::string instance;  // 8 digits
  std::string text;      // printable
};
/// Nothing if it is no such line.
std::optional<KeptLine> parse_kept_line(std::string_view line);

class KeptLog {
 public:
  using Sink = std::function<void(std::string_view line)>;

  /// `path` is that of the newest file.
  explicit KeptLog(std::string path) : path_(std::move(path)) {}

  /// Whether there is any file.
  bool exists() const;
  /// Every whole line that was not read yet, oldest first.
  void read(const Sink& sink);

 private:
  struct File {
    UniqueFd fd;
    ino_t inode = 0;
    dev_t device = 0;
  };
  void read_rest(const Sink& sink);
  std::vector<File> later_files() const;

  std::string path_;
  File file_;          // the newest that was read
  std::string begun_;  // a line without an end
};

}  // namespace corral::cli
