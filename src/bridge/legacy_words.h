// What a legacy client says of itself, and single messages between it and a modern server, as text. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/changes.h"
#include "bridge/vocabulary.h"

namespace corral::bridge {

/// The revision that a client which said these initialize parameters speaks.
std::string_view spoken_version(std::string_view initialize_params);

/// The capabilities of such a client in modern words. A JSON object.
std::string modern_capabilities(std::string_view initialize_params);

/// What such a client may not know of what a modern server says.
Vocabulary modern_to_legacy(std::string_view version);

/// A request of the client as the server gets it: under the id `id`, which is also its progress token if it
/// wants progress, with `meta` in its `_meta` and the members `more` in its parameters (both without braces,
/// `more` may be empty).
std::string modern_request(const wire::Message& message, UpId id, std::string_view meta,
                           std::string_view more = {});

/// How an error of the server for a request of `method` must be changed. `error` is valid JSON.
std::vector<Change> error_changes(std::string_view method, std::string_view error);

/// The capability that a server says it misses in the client, if this error says so.
std::optional<std::string> missing_capability(std::string_view error);

/// A result of tools/call that says what went wrong.
std::string tool_error(std::string_view sentence);

/// notifications/cancelled; `id` and `reason` are JSON, `reason` may be empty.
std::string cancelled_message(std::string_view id, std::string_view reason = {});

}  // namespace corral::bridge
