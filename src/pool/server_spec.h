// Which server a session asks for, and how it is to be run: an entry of the configuration, or a command of
// the client, with everything expanded. Values; the daemon makes one for each distinct entry and shares it
// between all sessions that ask for the same.
#pragma once

#include <chrono>
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
  std::string server;    // its name, or the name of the command
  config::Server entry;  // every option, expanded; the defaults for a client's command
  proc::LaunchSpec launch;
  std::string key;  // of `launch`: servers with the same key are the same server
  bool from_configuration = false;
  std::function<bool(std::string_view)> allows_tool;  // empty = all
  std::string root;                                   // share = root: the project
  Account* account = nullptr;                         // of the principal that wants it; null = nobody counts
};

/// The era that the user has configured; unset = corral detects it.
inline std::optional<knowledge::Era> configured_era(const ServerSpec& spec) {
  if (!spec.entry.modern) return std::nullopt;
  return *spec.entry.modern ? knowledge::Era::Modern : knowledge::Era::Legacy;
}

/// How long one call may take. A call without a configured limit still ends, so that its id does not stay in
/// the tables of a server that has forgotten it.
inline Clock::duration call_timeout(const ServerSpec& spec) {
  return spec.entry.timeout.value_or(std::chrono::hours(1));
}

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
