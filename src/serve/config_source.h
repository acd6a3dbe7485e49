// Where the daemon's configuration comes from, at the start and at each reload.
#pragma once

#include <string>

#include "base/result.h"
#include "config/configuration.h"

namespace corral::serve {

class ConfigSource {
 public:
  /// `given` = --config; empty = the default file, which may be missing. The machine's file applies below it.
  explicit ConfigSource(const std::string& given, config::MachineFile machine = {});
  /// Adds an entry that every configuration has besides those of its file.
  void add(config::Server built_in) { built_in_.push_back(std::move(built_in)); }

  /// For a daemon that serves one command: there is no file of the user, and of the machine's only the
  /// daemon's options count.
  static ConfigSource without_file(config::MachineFile machine = {});

  const std::string& file() const { return file_; }  // empty = there is none
  bool found() const { return found_; }
  const std::string& machine_file() const { return machine_.path; }

  /// A default file that never existed is an empty configuration. A file that was named must exist, and so
  /// must one that existed before: that it is gone is more likely a mistake than a wish to end every server,
  /// or to lift every lock.
  Result<config::Configuration> read();

 private:
  ConfigSource() = default;
  Result<config::Configuration> read_files();
  Result<config::Configuration> read_users();

  std::string file_;
  config::MachineFile machine_;
  bool machine_found_ = false;
  bool required_ = false;
  bool found_ = false;
  std::vector<config::Server> built_in_;
};

}  // namespace corral::serve
