// State shared by the parts of the bridge for a modern client: the client's open calls, what is known about
// the legacy server, and how to send to either side.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bridge/bridge.h"
#include "bridge/open_calls.h"
#include "bridge/to_modern.h"
#include "wire/log_level.h"
#include "wire/message.h"

namespace corral::bridge {

/// A message to the server may bring an answer before the call returns, so no pointer into `calls` may be
/// used after one.
struct ModernSide {
  Outlet& outlet;
  std::string name;  // of the server, for messages
  LegacyServer server;
  OpenCalls calls;
  bool several_programs = false;               // see `ModernClientOptions`
  IdSource<UpId> ids{};                        // of requests to the server; never reused
  Clock::time_point now{};                     // the last time that was passed to the bridge
  std::optional<wire::LogLevel> told_level{};  // the level that the server has

  void to_client(const std::string& message) const { outlet.to_client({message, nullptr}); }
  /// `request` is the client's; `why` a sentence.
  void refuse(const wire::Message& request, int code, std::string_view why) const;
  /// Passes progress on to the client that waits for the call, if it wants progress.
  void send_progress(const Call& call, const wire::Message& message) const;
  /// Sets the server's log level to the lowest one that an open call wants. Call this when the set of waiting
  /// calls has changed.
  void tell_level();
};

}  // namespace corral::bridge
