// Where the daemon's configuration comes from, again and again.
#pragma once

#include <string>

#include "base/result.h"
#include "config/configuration.h"

namespace corral::serve {

class ConfigSource {
 public:
  /// `given` = --config; empty = the default file, which may be missing.
  explicit ConfigSource(const std::string& given);
  /// What every configuration has besides what is written in its file.
  void add(config::Server built_in) { built_in_.push_back(std::move(built_in)); }

  /// Of a daemon that serves one command: there is none.
  static ConfigSource without_file();

  const std::string& file() const { return file_; }  // empty = there is none
  bool found() const { return found_; }

  /// A default file that was never there is an empty configuration. One that was asked for must be there, and
  /// so must one that was there before: that it is gone is more likely a mistake than a wish to end every
  /// server.
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
