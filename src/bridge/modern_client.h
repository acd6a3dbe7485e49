// The bridge for a modern client and a legacy server: stateless requests are translated for a server that has
// a handshake, subscriptions and a log level, and that sends its own requests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct ModernClientOptions {
  std::string server;             // name for messages
  std::string initialize_result;  // JSON
  Account* account = nullptr;     // charged for what is kept; must outlive the bridge
  bool several_programs = false;  // may share the connection; none must be asked the questions of another
  Clock::duration suspension = std::chrono::minutes(10);  // how long a call waits for its client's answer
};

/// `outlet` must outlive the bridge.
std::unique_ptr<Bridge> modern_client(Outlet& outlet, ModernClientOptions options);

/// The parameters of an initialize that gives a legacy server what the client says about itself in the
/// `_meta` of a request. JSON.
std::string initialize_params(std::string_view meta);

/// The result of server/discover for a server with this result of initialize. JSON.
std::string discover_result(std::string_view initialize_result);

/// Converts a legacy server's result of `method` for a modern client: adds resultType, cache hints and
/// serverInfo, removes what only legacy clients know. JSON.
std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view initialize_result);

}  // namespace corral::bridge
