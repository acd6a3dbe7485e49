// Reads the files in which the daemon keeps what one server writes to stderr, the oldest first, and follows
// them across rotations. The files may be deleted, truncated or rotated at any moment, and their content is
// not trusted.
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
/// Nothing if the line does not have this form.
std::optional<KeptLine> parse_kept_line(std::string_view line);

class KeptLog {
 public:
  using Sink = std::function<void(std::string_view line)>;

  /// `path` is the newest file; rotated files have ".1", ".2" and so on after it.
  explicit KeptLog(std::string path) : path_(std::move(path)) {}

  /// Whether at least one file exists.
  bool exists() const;
  /// Calls `sink` for each complete line that was not read yet, the oldest first.
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
  File file_;          // the newest file that was read
  std::string begun_;  // an incomplete last line
};

}  // namespace corral::cli
