// Which server a session asks for, and how it is to be run: an entry of the configuration, or a command of
// the client, with everything expanded. Values; the daemon makes one for each distinct entry and shares it
// between all sessions that ask for the same.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/shares.h"
#include "config/configuration.h"
#include "knowledge/manifest.h"
#include "proc/launch_spec.h"

namespace corral::pool {

struct ServerSpec {
  std::string server;  // its name, or the name of the command
  proc::LaunchSpec launch;
  std::string key;  // of `launch`: servers with the same key are the same server
  config::Share share = config::Share::Auto;
  bool from_configuration = false;
  bool stateless = false;
  std::function<bool(std::string_view)> allows_tool;  // empty = all
  Clock::duration call_timeout = std::chrono::hours(1);
  Clock::duration idle = std::chrono::minutes(10);
  bool restart = true;       // a server that died comes back; otherwise its sessions end with it
  std::optional<bool> park;  // end the tree of a silent session; unset = where it keeps no state
  Clock::duration probe = std::chrono::minutes(1);  // ask a silent server whether it lives; 0 = never
  std::string root;                                 // share = root: the project
  std::optional<knowledge::Era> era;                // as it is configured; unset = found out
  bool eager = false;                               // started when a session attaches
  std::size_t warm = 0;                             // private instances that are kept ready
  config::OnChange on_change = config::OnChange::Roll;
  std::string min_version;               // an older server is refused; empty = none is
  std::optional<std::uint64_t> recycle;  // memory of the tree at which it is replaced
  Account* account = nullptr;            // of the principal that wants it; null = nobody counts
};

/// Whether the user asks for it, and not a token.
inline bool is_users(const ServerSpec& spec) { return spec.account == nullptr || spec.account->is_user(); }

/// Whether it is the server that the configuration calls so. A client's own command may have the same name,
/// and is another server.
inline bool is_configured_as(const ServerSpec& spec, std::string_view server) {
  return spec.from_configuration && spec.server == server;
}

/// The names of the configured servers that the user has stopped.
using StoppedServers = std::set<std::string, std::less<>>;

inline bool is_stopped(const ServerSpec& spec, const StoppedServers& stopped) {
  return spec.from_configuration && stopped.contains(spec.server);
}

/// What a session asks for.
struct Ask {
  std::shared_ptr<const ServerSpec> spec;
  std::string initialize_params;
  std::optional<bool> shared;  // a session that comes back stays what it was; unset = to be decided
};

}  // namespace corral::pool
