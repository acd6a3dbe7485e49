// What the user wrote about the daemon's servers: the `mcpServers` file that every client knows, with a
// `corral` object for our own options. Plain values, pure but for `read`; any thread may call.
// docs/configuration.md is the reference for every key.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keep_limit.h"
#include "base/result.h"
#include "proc/launch_spec.h"

namespace corral::config {

/// What to do when the files that a server was started from have changed.
enum class OnChange : std::uint8_t {
  Roll,    // new sessions get a new instance; the old one goes when its sessions have
  Warn,    // say so, and go on
  Ignore,  // do not look
};

enum class Share : std::uint8_t {
  Auto,     // shared where there is evidence that it is safe
  Shared,   // one instance for all sessions with the same key
  Session,  // one instance per session
  Root,     // one instance per project root
};

/// One entry as it is written: ${VAR} is not expanded yet.
struct Server {
  std::string name;
  std::vector<std::string> argv;                         // never empty
  std::vector<std::pair<std::string, std::string>> env;  // in the order of the file
  std::string cwd;                                       // empty = the client's
  std::string description;                               // what it is for; empty = not said

  Share share = Share::Auto;
  bool disabled = false;
  std::optional<std::vector<std::string>> tools;     // allow-list; unset = all; names may hold * wildcards
  std::vector<std::string> deny;                     // of those that are allowed; the same wildcards
  std::optional<std::chrono::milliseconds> timeout;  // of one call

  proc::Containment containment = proc::Containment::Auto;
  proc::Limits limits;
  std::chrono::milliseconds stdin_grace{2000};
  std::chrono::milliseconds term_grace{3000};
  std::string on_stop;
  std::chrono::milliseconds idle{std::chrono::minutes(10)};  // a shared instance without sessions

  bool stateless = false;    // the user's word that sharing is safe
  bool restart = true;       // a server that died comes back
  std::optional<bool> park;  // end the tree of a silent session; unset = where there is evidence
  std::chrono::milliseconds probe{std::chrono::minutes(1)};  // of a silent server; 0 = never
  std::optional<bool> modern;                                // its era; unset = found out
  bool eager = false;    // start it when a session attaches, not at its first call
  std::size_t warm = 0;  // private instances that are kept ready for the next sessions
  OnChange on_change = OnChange::Roll;
  std::string min_version;               // of the server, as it says itself; empty = any
  std::vector<std::string> roots;        // share = root: the projects that every token may name by URL
  std::optional<std::uint64_t> recycle;  // memory of its tree at which it is replaced, after its calls
  int line = 0;                          // where the entry begins in the file
  bool built_in = false;                 // corral's own server, which stands in no file
};

/// The door for clients that come by URL.
struct Http {
  std::optional<std::uint16_t> port;  // nothing = no TCP door; 0 = any free one
  std::string bind = "127.0.0.1";
  std::vector<std::string> hosts;                            // names beside those of this machine
  std::vector<std::string> origins;                          // of web pages that may ask
  std::chrono::milliseconds idle{std::chrono::minutes(30)};  // a session that nobody uses

  bool operator==(const Http&) const = default;
};

/// What to do about servers that others have started and lost.
enum class Foreign : std::uint8_t { Off, Report, End };

/// The watchdog: whether registry, /proc and keepers agree.
struct WatchRules {
  std::chrono::milliseconds interval{std::chrono::minutes(1)};  // 0 = never
  Foreign foreign = Foreign::Off;

  bool operator==(const WatchRules&) const = default;
};

struct Options {
  std::size_t line_cap = std::size_t{64} << 20;
  std::chrono::milliseconds drain{5000};
  std::size_t max_instances = 256;
  std::size_t keep = kDefaultKeep;                            // idle instances of one server
  std::chrono::milliseconds linger{std::chrono::minutes(5)};  // an auto-started daemon without sessions
  Http http;
  std::string min_version;  // of programs that steer the daemon; empty = any
  WatchRules watch;
  std::chrono::milliseconds history{
      std::chrono::hours(24 * 14)};  // events and ended sessions are kept so long
};

struct Configuration {
  std::string file;  // empty = none was found
  std::vector<Server> servers;
  Options options;
  std::vector<std::string> warnings;  // whole sentences, each begins with FILE:LINE:COLUMN

  const Server* find(std::string_view name) const;
};

/// The configuration without a file: the defaults, and what the environment sets (MAX_KEEP_PROCESSES).
/// parse() begins with the same.
Configuration default_configuration();

/// The error is "FILE:LINE:COLUMN: what is wrong. Hint."
Result<Configuration> parse(const std::string& text, const std::string& file);

/// A file that is missing or cannot be read is an error that names it and says what to do.
Result<Configuration> read(const std::string& file);

/// $XDG_CONFIG_HOME/corral/config.json, else ~/.config/corral/config.json.
std::string default_file();

/// ${VAR} and ${VAR:-default} in argv, env values and cwd, from `environment` ("NAME=value"). A variable that
/// is not set and has no default is an error that names it, the server and the place, never a value.
Result<Server> expand(const Server& server, const std::vector<std::string>& environment);

/// By both lists: allowed, and not denied.
bool allows_tool(const Server& server, std::string_view tool);
/// Whether there may be a tool that is not allowed.
bool limits_tools(const Server& server);
/// Whether one of the patterns fits every name.
bool names_every_tool(const std::vector<std::string>& patterns);

}  // namespace corral::config
