// Converts single messages and capabilities between a legacy client and a modern server, as text. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/changes.h"
#include "bridge/vocabulary.h"

namespace corral::bridge {

/// The protocol revision of a client with these initialize parameters.
std::string_view spoken_version(std::string_view initialize_params);

/// The capabilities of such a client in the modern form. A JSON object.
std::string modern_capabilities(std::string_view initialize_params);

/// Whether a capability has lists: tools, prompts, resources. corral notifies clients of changed lists even
/// if their server does not, because another instance may have other lists. So every client is told that list
/// changes are supported.
bool has_lists(std::string_view capability);

/// A capability with lists, as corral offers it. JSON.
std::string with_list_changed(std::string_view capability);

/// Applies with_list_changed to all of them in a result of initialize; the rest stays as it is written. JSON.
std::string with_list_changes(std::string_view initialize_result);

/// What such a client may not understand in a modern server's messages.
Vocabulary modern_to_legacy(std::string_view version);

/// A request of the client in the form for the server: with the id `id`, which is also its progress token if
/// it wants progress, with `meta` in its `_meta` and the members `more` in its parameters (both without
/// braces, `more` may be empty).
std::string modern_request(const wire::Message& message, UpId id, std::string_view meta,
                           std::string_view more = {});

/// The changes that an error of the server needs for a request of `method`. `error` is valid JSON.
std::vector<Change> error_changes(std::string_view method, std::string_view error);

/// The client capability that this error reports as missing, if it does.
std::optional<std::string> missing_capability(std::string_view error);

/// A result of tools/call that describes an error.
std::string tool_error(std::string_view sentence);

/// notifications/cancelled; `id` and `reason` are JSON, `reason` may be empty.
std::string cancelled_message(std::string_view id, std::string_view reason = {});

}  // namespace corral::bridge
