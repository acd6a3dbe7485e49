// What servers write to stderr, in one file per server, for who looks later: NAME.log, and NAME.log.1 and .2
// with what came before. A line each: when, who, what (error_lines.h). Belongs to the loop thread. A disk
// that takes nothing costs the lines, never the daemon.
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
  std::size_t servers = 256;                 // whose files are kept: clients bring commands of their own
  std::int64_t retry_ms = 10'000;            // after the disk refused
};

class ErrorFiles {
 public:
  /// An empty folder = nothing is kept. It is made when there is something to write.
  explicit ErrorFiles(std::string directory, ErrorFileLimits limits = {});

  void write(const std::string& server, const std::string& instance, std::string_view bytes);
  /// What it has begun to say is written, although its line has no end.
  void ended(const std::string& server, const std::string& instance);

  /// Empty if nothing is kept.
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
  std::list<File> open_;                     // the one used last comes first
  std::map<std::string, ErrorLines> begun_;  // by instance
  std::string why_;                          // the last try did not work
  std::uint64_t lost_ = 0;
  std::uint64_t told_ = 0;  // of those, when it was said that it does not work
  std::int64_t not_before_ = 0;
  bool failing_ = false;
};

}  // namespace corral::instance
