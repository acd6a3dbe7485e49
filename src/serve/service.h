// The entry point and the options of `corral serve`. It runs in two processes (start.h): the first takes the
// lock and becomes the janitor, the second is the daemon that the janitor starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corral::serve {

struct ServeOptions {
  std::string runtime_dir;               // empty = the first of control::candidates that can be used
  std::string config;                    // empty = config::default_file, which may be missing
  std::string pid_file;                  // empty = in the runtime directory
  std::string state_dir;                 // empty = the user's, or inside a runtime directory that was given
  bool automatic = false;                // started by a shim: ends when no session is left
  bool replace = false;                  // ask the running one to end
  bool background = false;               // return when it answers
  std::optional<std::uint16_t> port;     // of HTTP; nothing = the configuration decides
  std::string bind;                      // empty = the configuration decides
  std::string log;                       // "auto", "text", "json"; empty = auto
  std::vector<std::string> command;      // served alone, at /mcp and /sse; empty = what is configured
  std::string cwd;                       // for that command: the working directory of `corral serve`
  std::vector<std::string> environment;  // for that command: the variables of `corral serve`, "NAME=value"

  /// The arguments with which a janitor starts the daemon; empty if a user runs `corral serve`.
  std::vector<std::string> from_janitor;
};

/// Whether the arguments come from a janitor and not from a user.
bool is_from_janitor(const std::vector<std::string>& words);

/// Returns the exit code: 0 after an orderly end and, for `automatic` and `background`, if a daemon is
/// already running. Otherwise 1, or the code of the signal that ended the daemon.
int serve(const ServeOptions& options);

/// Where the pid file is, given the runtime directory.
std::string pid_file_of(const ServeOptions& options, const std::string& runtime_dir);

}  // namespace corral::serve
