// The user's configuration: an `mcpServers` file as clients use it, with `corral` objects for corral's own
// options; and below it the file of the administrator, the machine's file (machine_file.h). Plain values; all
// functions are pure except those that read a file or the environment (`read`, `default_configuration`,
// `default_file`). Any thread may call them.
// docs/configuration.md is the reference for every key.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keep_limit.h"
#include "base/result.h"
#include "config/machine_file.h"
#include "proc/launch_spec.h"

namespace corral::config {

/// What to do when the files that a server was started from have changed.
enum class OnChange : std::uint8_t {
  Roll,    // new sessions get a new instance; the old one ends with its last session
  Warn,    // report it and continue
  Ignore,  // do not watch the files
};

enum class Share : std::uint8_t {
  Auto,     // shared where there is evidence that it is safe
  Shared,   // one instance for all sessions with the same key
  Session,  // one instance per session
  Root,     // one instance per project root
};

/// How long nobody may be attached to a client's background process before its servers are parked.
inline constexpr std::chrono::milliseconds kUnattended = std::chrono::minutes(10);

/// One entry of the file. ${VAR} is not expanded yet; expand() does that.
struct Server {
  std::string name;
  std::vector<std::string> argv;                         // never empty
  std::vector<std::pair<std::string, std::string>> env;  // in the order of the file
  std::string cwd;                                       // empty = the client's directory
  std::string description;                               // what the server is for; may be empty

  Share share = Share::Auto;
  bool disabled = false;
  std::optional<std::vector<std::string>> tools;     // allow-list; unset = all; * is a wildcard
  std::vector<std::string> deny;                     // exceptions from `tools`, with the same wildcards
  std::optional<std::chrono::milliseconds> timeout;  // for one call

  proc::Containment containment = proc::Containment::Auto;
  proc::Limits limits;
  std::chrono::milliseconds stdin_grace{2000};
  std::chrono::milliseconds term_grace{3000};
  std::string on_stop;
  std::chrono::milliseconds idle{std::chrono::minutes(10)};  // an instance without sessions ends after this

  bool stateless = false;    // the user declares that sharing is safe
  bool restart = true;       // restart a server that has died
  std::optional<bool> park;  // end the tree of a silent session; unset = if there is evidence that it is safe
  /// End the tree when nobody has been attached to the client's background process for so long; 0 = never.
  /// Unset = what the daemon's options say.
  std::optional<std::chrono::milliseconds> unattended;
  std::chrono::milliseconds probe{std::chrono::minutes(1)};  // probe a server after this silence; 0 = never
  std::optional<bool> modern;                                // its era; unset = corral detects it
  bool eager = false;    // start it when a session attaches, not at its first call
  std::size_t warm = 0;  // private instances that are kept ready for the next sessions
  OnChange on_change = OnChange::Roll;
  std::string min_version;               // required of the version that the server reports; empty = any
  std::vector<std::string> ignore;       // what makes no difference to it: "cwd", "PATH", names of variables
  std::vector<std::string> roots;        // share = root: the projects that every token may name over HTTP
  std::optional<std::uint64_t> recycle;  // if its tree uses more memory, it is replaced after its calls
  std::string file;                      // in which the entry is
  int line = 0;                          // where the entry begins in it
  bool built_in = false;                 // corral's own server, which is not in the file
};

/// The HTTP listener.
struct Http {
  std::optional<std::uint16_t> port;  // unset = do not listen on TCP; 0 = any free port
  std::string bind = "127.0.0.1";
  std::vector<std::string> hosts;    // host names to accept in addition to this machine's
  std::vector<std::string> origins;  // of web pages that may send requests
  std::chrono::milliseconds idle{std::chrono::minutes(30)};  // an unused session ends after this

  bool operator==(const Http&) const = default;
};

/// What to do about orphaned servers that corral has not started.
enum class Foreign : std::uint8_t { Off, Report, End };

/// The watchdog, which compares the registry with /proc and the keepers.
struct WatchRules {
  std::chrono::milliseconds interval{std::chrono::minutes(1)};  // 0 = never
  Foreign foreign = Foreign::Off;

  bool operator==(const WatchRules&) const = default;
};

struct Options {
  std::size_t line_cap = std::size_t{64} << 20;
  std::chrono::milliseconds drain{5000};
  std::size_t max_instances = 256;
  std::size_t keep = kDefaultKeep;  // idle instances per server
  /// An auto-started daemon without sessions exits after this.
  std::chrono::milliseconds linger{std::chrono::minutes(5)};
  Http http;
  std::string min_version;  // required of programs that control the daemon; empty = any
  WatchRules watch;
  /// Of all servers whose entry says nothing. Unset = `kUnattended`, where there is evidence that nothing is
  /// lost.
  std::optional<std::chrono::milliseconds> unattended;
  /// How long events and ended sessions are kept.
  std::chrono::milliseconds history{std::chrono::hours(24 * 14)};
};

/// A place in a file.
struct FilePlace {
  std::string file;
  int line = 0;

  std::string text() const { return file + ":" + std::to_string(line); }
};

struct Configuration {
  std::string file;          // the user's, or the machine's if there is no other; empty = there is no file
  std::string machine_file;  // empty = there is none
  std::vector<Server> servers;
  Options options;
  /// Which place sets an option of the daemon: "keep", "http.port". Options with their default are not here.
  std::map<std::string, FilePlace, std::less<>> option_places;
  /// What only the machine's file may set, and where it says so (locks.h).
  std::map<std::string, FilePlace, std::less<>> locks;
  std::vector<std::string> warnings;  // whole sentences that begin with FILE:LINE:COLUMN
  /// The same about settings of the user's file that have no effect because their keys are locked.
  std::vector<std::string> overruled;

  const Server* find(std::string_view name) const;
  /// Where the key is locked; null if it is not.
  const FilePlace* lock_of(std::string_view key) const;
};

/// The configuration without a file: the defaults, and what the environment sets (MAX_KEEP_PROCESSES).
/// parse() starts from the same values.
Configuration default_configuration();

/// The user's file. `machine` is what applies where this file says nothing, and its locks apply in any case.
/// The error is "FILE:LINE:COLUMN: what is wrong. Hint."
Result<Configuration> parse(const std::string& text, const std::string& file,
                            const Configuration& machine = default_configuration());

/// The machine's file: only this one may lock keys.
Result<Configuration> parse_machine(const std::string& text, const std::string& file);

/// The machine's file alone; the defaults if there is none. A file that cannot be used is an error: without
/// it nobody knows what is locked.
Result<Configuration> read_machine(const MachineFile& machine = {});

/// This file above the machine's. If it is missing or unreadable, the error names it and says what to do; but
/// the default file may be missing if there is a machine's file, which is then the only one.
Result<Configuration> read(const std::string& file, const MachineFile& machine = {});

/// $XDG_CONFIG_HOME/corral/config.json, else ~/.config/corral/config.json.
std::string default_file();

/// Replaces ${VAR} and ${VAR:-default} in argv, env values and cwd by values from `environment`
/// ("NAME=value"). A variable that is not set and has no default is an error. The error names the variable,
/// the server and the place, but never a value, which may be secret.
Result<Server> expand(const Server& server, const std::vector<std::string>& environment);

/// Whether the tool is in `tools` and not in `deny`.
bool allows_tool(const Server& server, std::string_view tool);
/// Whether the two lists may exclude any tool.
bool limits_tools(const Server& server);
/// Whether one of the patterns matches every name.
bool names_every_tool(const std::vector<std::string>& patterns);

}  // namespace corral::config
