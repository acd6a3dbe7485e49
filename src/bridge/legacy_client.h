// The bridge for a legacy client and a modern server. It keeps the client's handshake, subscriptions and log
// level and sends them to the server with every request; input that the server needs becomes a question to
// the client.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct LegacyClientOptions {
  std::string server;             // name for messages
  std::string initialize_params;  // of the client, JSON
  std::string discover_result;    // JSON
  bool shared = false;            // with other clients
  Account* account = nullptr;     // charged for what is kept; must outlive the bridge
};

/// `outlet` must outlive the bridge.
std::unique_ptr<Bridge> legacy_client(Outlet& outlet, LegacyClientOptions options);

/// The result of initialize for a server with this result of server/discover. `version` is the one agreed on
/// with the client, `server` the configured name. JSON.
std::string initialize_result(std::string_view discover_result, std::string_view version,
                              std::string_view server);

/// The `_meta` members that describe a client with these initialize parameters to a modern server, without
/// the braces. `level` may be empty.
std::string modern_meta(std::string_view initialize_params, std::string_view level);

/// Converts a modern server's result of `method` for a client of the legacy revision `version`. JSON.
std::string legacy_result(std::string_view method, std::string_view result, std::string_view version);

}  // namespace corral::bridge
