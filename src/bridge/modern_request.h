// Reads a modern client's request, and converts it for a legacy server. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bridge/bridge.h"
#include "bridge/question.h"
#include "wire/log_level.h"
#include "wire/message.h"

namespace corral::bridge {

struct ModernRequest {
  std::string_view method;
  std::string_view params;
  Abilities abilities;
  std::optional<wire::LogLevel> level;  // of the log lines that it wants
  std::string_view state;               // requestState, JSON; empty = missing
  std::string_view responses;           // inputResponses, JSON; empty = missing
  std::string fault;                    // what is wrong with the request; empty = nothing
};

/// The views refer to `message`.
ModernRequest read_request(const wire::Message& message);

/// A server may send requests to its client during these methods only.
bool can_be_suspended(std::string_view method);

/// The request in the legacy form, with an id of corral, which is also its progress token if it has one.
std::string legacy_request(const wire::Message& message, UpId id);

/// Whether two requests of one method are the same: compares all of `params` except `_meta` and the members
/// for retries, regardless of the order of members and of white space.
bool same_params(std::string_view one, std::string_view other);

}  // namespace corral::bridge
