// A client of the legacy era before a modern server: its handshake, subscriptions and log level are kept here
// and told to the server with every request; what the server wants to know becomes a question to the client.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct LegacyClientOptions {
  std::string server;             // its name, for messages
  std::string initialize_params;  // the client's own. JSON
  std::string discover_result;    // JSON
  bool shared = false;            // with other clients
  Account* account = nullptr;     // whose what is kept is; outlives the bridge
};

std::unique_ptr<Bridge> legacy_client(Outlet& outlet, LegacyClientOptions options);

/// The answer to initialize for a server that answered server/discover so. `version` is the one agreed on
/// with the client, `server` its configured name. JSON.
std::string initialize_result(std::string_view discover_result, std::string_view version,
                              std::string_view server);

/// The `_meta` members that tell a modern server of a client that said these initialize parameters; without
/// the braces. `level` may be empty.
std::string modern_meta(std::string_view initialize_params, std::string_view level);

/// What a modern server's result of `method` is to a client of the legacy revision `version`. JSON.
std::string legacy_result(std::string_view method, std::string_view result, std::string_view version);

}  // namespace corral::bridge
