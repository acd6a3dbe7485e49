// A modern client's request: what it says of its client, and how a legacy server is asked the same. Pure.
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
  std::string_view state;               // requestState, JSON; empty = not there
  std::string_view responses;           // inputResponses, likewise
  std::string fault;                    // what is wrong with it, for people; empty = nothing
};

/// The views point into `message`.
ModernRequest read_request(const wire::Message& message);

/// A server may ask its client something during these, and during no others.
bool can_be_suspended(std::string_view method);

/// The request in legacy words, under an id of ours, which is its progress token too if it has one.
std::string legacy_request(const wire::Message& message, UpId id);

/// Whether two requests of one method ask for the same: all of `params` but `_meta` and what belongs to
/// retries, whatever the order of its members and the space between.
bool same_params(std::string_view one, std::string_view other);

}  // namespace corral::bridge
