// Where the daemon's configuration comes from, at the start and at each reload.
#pragma once

#include <string>

#include "base/result.h"
#include "config/configuration.h"

namespace corral::serve {

class ConfigSource {
 public:
  /// `given` = --config; empty = the default file, which may be missing.
  explicit ConfigSource(const std::string& given);
  /// Adds an entry that every configuration has besides those of its file.
  void add(config::Server built_in) { built_in_.push_back(std::move(built_in)); }

  /// For a daemon that serves one command: there is no file.
  static ConfigSource without_file();

  const std::string& file() const { return file_; }  // empty = there is none
  bool found() const { return found_; }

  /// A default file that never existed is an empty configuration. A file that was named must exist, and so
  /// must one that existed before: that it is gone is more likely a mistake than a wish to end every server.
  Result<config::Configuration> read();

 private:
  ConfigSource() = default;
  Result<config::Configuration> read_file();

  std::string file_;
  bool required_ = false;
  bool found_ = false;
  std::vector<config::Server> built_in_;
};

}  // namespace corral::serve
