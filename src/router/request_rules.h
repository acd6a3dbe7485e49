// Which messages of a client may reach the server. Where the tools of a server are limited, or other sessions
// use it, a message must mean to the server what it means to corral: a second id that only the server sees
// would be the id of another session's call.
#pragma once

#include <optional>
#include <string>

#include "router/router_options.h"
#include "wire/message.h"

namespace corral::router {

/// A JSON-RPC error for the client.
struct Refusal {
  int code = 0;
  std::string why;
};

class RequestRules {
 public:
  /// Both outlive it.
  RequestRules(const RouterOptions& options, RouterCounters& counters)
      : options_(options), counters_(counters) {}

  /// Why a request is refused; nothing if it may pass.
  std::optional<Refusal> refuse(const wire::Message& request) const;
  /// Whether a notification may pass. One that may not is dropped: it has no id, so there is no answer to it.
  bool allow_notification(const wire::Message& notification) const;
  /// Whether a server might read a different message from corral, by keys that differ only in case. Counts
  /// it.
  bool misleads(const wire::Message& message) const;

 private:
  std::optional<Refusal> refuse_tool(const wire::Message& request) const;

  const RouterOptions& options_;
  RouterCounters& counters_;
};

}  // namespace corral::router
