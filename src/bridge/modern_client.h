// A client of the modern era before a legacy server: what it asks of a stateless server is done with one that
// knows a handshake, subscriptions, a log level, and asks questions of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "bridge/bridge.h"

namespace corral::bridge {

struct ModernClientOptions {
  std::string server;                                     // its name, for messages
  std::string initialize_result;                          // JSON
  Account* account = nullptr;                             // whose what is kept is; outlives the bridge
  Clock::duration suspension = std::chrono::minutes(10);  // of a call that waits for its client's word
};

std::unique_ptr<Bridge> modern_client(Outlet& outlet, ModernClientOptions options);

/// The parameters of an initialize that tells a legacy server what the client says of itself in the `_meta`
/// of a request. JSON.
std::string initialize_params(std::string_view meta);

/// The answer to server/discover, for a server that answered initialize so. JSON.
std::string discover_result(std::string_view initialize_result);

/// What a legacy server's result of `method` is to a modern client: resultType, cache hints, serverInfo,
/// nothing that only legacy clients know. JSON.
std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view initialize_result);

}  // namespace corral::bridge
