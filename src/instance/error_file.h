// Keeps what servers write to stderr, in one file per server: NAME.log, and NAME.log.1 and .2 with older
// lines. Each line has the time, the instance and the text (error_lines.h). Used on the loop's thread. If the
// disk refuses, lines are lost and counted; nothing else fails.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "instance/error_lines.h"

namespace corral::instance {

struct ErrorFileLimits {
  std::size_t bytes = std::size_t{5} << 20;  // of one file
  std::size_t files = 3;                     // of one server
  std::size_t open = 64;                     // descriptors at once
  std::size_t servers = 256;                 // whose files are kept; clients may add any number of commands
  std::int64_t retry_ms = 10'000;            // time without a try after the disk refused
};

class ErrorFiles {
 public:
  /// The directory is created when there is something to write. An empty path = nothing is kept.
  explicit ErrorFiles(std::string directory, ErrorFileLimits limits = {});

  /// Writes the complete lines of `bytes`, and keeps the rest until its line is complete.
  void write(const std::string& server, const std::string& instance, std::string_view bytes);
  /// The instance has ended: writes a last line that has no line end.
  void ended(const std::string& server, const std::string& instance);

  /// The newest file of the server; empty if nothing is kept.
  std::string path_of(const std::string& server) const;
  /// Lines that could not be written.
  std::uint64_t lost() const { return lost_; }

 private:
  struct File {
    std::string name;
    UniqueFd fd;
    std::uint64_t inode = 0;
    std::size_t size = 0;
  };

  void put(const std::string& server, const std::string& lines, std::uint64_t count);
  bool try_to_put(const std::string& server, const std::string& lines);
  bool open_folder();
  File* file_called(const std::string& name);
  bool open_file(File& file);
  bool is_still(const File& file) const;
  void rotate(const std::string& name) const;
  void forget_oldest() const;

  const std::string directory_;
  const ErrorFileLimits limits_;
  UniqueFd folder_;
  std::list<File> open_;                     // the most recently used one is first
  std::map<std::string, ErrorLines> begun_;  // by instance
  std::string why_;                          // why the last try failed
  std::uint64_t lost_ = 0;
  std::uint64_t told_ = 0;  // how many of them there were when the failure was logged
  std::int64_t not_before_ = 0;
  bool failing_ = false;
};

}  // namespace corral::instance
