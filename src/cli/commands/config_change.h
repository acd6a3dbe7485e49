// What `add` and `remove` do alike: change the configuration in one step, keep the old text, and tell whoever
// has to know.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

struct ConfigChange {
  std::string command;      // who asks, for messages
  std::string config;       // empty = the default file
  std::string runtime_dir;  // empty = the usual places
};

/// --config and --runtime-dir. The change must live as long as the options.
std::vector<Option> options_of(ConfigChange& change);

/// `rewrite` makes the new text of the old one (empty if there is no file) or says why not. `done` is asked
/// afterwards for the beginning of a sentence: "Added files to". Returns the exit code: 0, or 1 with the
/// reason on stderr.
using Rewrite = std::function<Result<std::string>(const std::string& old)>;
int change_configuration(const ConfigChange& change, const Rewrite& rewrite,
                         const std::function<std::string()>& done);

/// Says on stderr why nothing was changed; the exit code is 1.
int refuse_change(const std::string& command, const std::string& sentence);

/// What to type, or to write into a client's file, to use a server.
std::string connect_line(const std::string& config, const std::string& name);

}  // namespace corral::cli
