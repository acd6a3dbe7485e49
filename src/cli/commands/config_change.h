// Changes to the configuration by `corral add` and `corral remove`: replace the file in one step, keep the
// old version next to it, and ask a running daemon to apply the change.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

struct ConfigChange {
  std::string command;      // "add" or "remove", for messages
  std::string config;       // empty = the default file
  std::string runtime_dir;  // empty = the usual places
};

/// The options --config and --runtime-dir, which write to `change`: it must outlive them.
std::vector<Option> options_of(ConfigChange& change);

/// Returns the new text for the old one (empty if there is no file), or the reason why it cannot.
using Rewrite = std::function<Result<std::string>(const std::string& old)>;
/// Locks the file, writes what `rewrite` returns, and prints the result. `done` is called after that and
/// returns the beginning of the sentence: "Added files to". The exit code is 0, or 1 with the reason on
/// stderr; then the file has not changed. A daemon that does not apply the change is reported, but not a
/// failure.
int change_configuration(const ConfigChange& change, const Rewrite& rewrite,
                         const std::function<std::string()>& done);

/// What the administrator's file says about a new entry of the user.
struct MachineSays {
  std::string objection;  // why it would have no effect; empty = it has
  std::string note;       // what it replaces for this user; empty = nothing
};
/// `options` are the keys that the entry sets, each with the word that set it. Fails if that file cannot be
/// used.
Result<MachineSays> ask_machine(const std::string& name,
                                const std::vector<std::pair<std::string, std::string>>& options);

/// Why `add`, `remove` and `import` do not write to this file; empty if they do. What corral writes is
/// readable only by its owner, and the administrator's file must be readable for everybody.
std::string objection_to_changing(const std::string& config);

/// Prints on stderr why nothing was changed; returns the exit code 1.
int refuse_change(const std::string& command, const std::string& sentence);

}  // namespace corral::cli
