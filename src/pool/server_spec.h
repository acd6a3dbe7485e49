// The server that a session requests and how to run it: an entry of the configuration or a command of the
// client, with all variables expanded. Plain values. The daemon creates one specification for each distinct
// entry and shares it between all sessions that request the same server.
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
#include "knowledge/known_servers.h"
#include "knowledge/manifest.h"
#include "knowledge/notice.h"
#include "proc/launch_spec.h"
#include "wire/line_pipe.h"

namespace corral::pool {

struct ServerSpec {
  std::string server;    // the name of the entry or of the command
  config::Server entry;  // all options, expanded; defaults for a client's command
  proc::LaunchSpec launch;
  wire::ChannelMaker make_channel = wire::make_line_pipe;  // the framing of its messages
  const knowledge::KnownServer* known = nullptr;           // its row in the list of known servers
  knowledge::Noticed noticed;                              // what of `launch` makes a difference to it
  std::string key;  // computed from `launch`; specifications with the same key are the same server
  bool from_configuration = false;
  std::function<bool(std::string_view)> allows_tool;  // empty = all tools are allowed
  std::string root;                                   // share = root: the project directory
  std::string principal;       // the token of its sessions; empty = the user. Part of the key
  Account* account = nullptr;  // of the principal that requests it; null = not accounted
};

/// The era that the user has configured; unset = corral detects it.
inline std::optional<knowledge::Era> configured_era(const ServerSpec& spec) {
  if (!spec.entry.modern) return std::nullopt;
  return *spec.entry.modern ? knowledge::Era::Modern : knowledge::Era::Legacy;
}

/// How long one call may take. A call without a configured limit also ends after some time, so that its id
/// does not stay in the tables for ever if the server never answers.
inline Clock::duration call_timeout(const ServerSpec& spec) {
  return spec.entry.timeout.value_or(std::chrono::hours(1));
}

/// Whether the user requests the server, and not a token.
inline bool is_users(const ServerSpec& spec) { return spec.account == nullptr || spec.account->is_user(); }

/// The names of the servers that the user has stopped.
using StoppedServers = std::set<std::string, std::less<>>;

inline bool is_stopped(const ServerSpec& spec, const StoppedServers& stopped) {
  return stopped.contains(spec.server);
}

/// The request of a session for an instance.
struct Ask {
  std::shared_ptr<const ServerSpec> spec;
  std::string initialize_params;
  std::optional<bool> shared;  // whether a resumed session was shared before; unset = not decided yet
};

}  // namespace corral::pool
