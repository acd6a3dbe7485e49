// Writes JSON text for messages that corral composes, and looks up single members. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/span.h"

namespace corral::wire {

/// `text` as a JSON string with quotes. Invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);

/// The value of a direct member of `object` (valid JSON), as a span of it. Also finds a key that is written
/// with escapes. Not present if there is no such member or `object` is not an object.
Span member(std::string_view object, std::string_view key);
/// The same as text; empty if there is none.
std::string_view member_text(std::string_view object, std::string_view key);
/// The member with its key and one adjacent comma, so that removing the span leaves valid JSON.
Span member_with_comma(std::string_view object, std::string_view key);

/// Whether the text is one strict JSON object that may be nested inside `depth` other arrays and objects.
bool is_strict_object(std::string_view json, std::size_t depth = 0);

/// The decoded JSON string; empty if `json` is not a string.
std::optional<std::string> string_value(std::string_view json);

/// The decoded string member `key` of `object`; empty if it is missing or not a string.
std::optional<std::string> string_member(std::string_view object, std::string_view key);

/// JSON-RPC messages without the line end. Every message that corral composes is made here. Methods and
/// sentences are escaped; `id`, `params`, `result`, `error` and `data` are JSON text, from the scanner or
/// from `quoted`. An empty id becomes null, empty params are left out.
std::string request_message(std::string_view id, std::string_view method, std::string_view params);
std::string notification_message(std::string_view method, std::string_view params = {});
/// "notifications/cancelled"; without a reason if `reason` is empty.
std::string cancelled_message(std::string_view request_id, std::string_view reason);
/// With a complete error object, as a server wrote it.
std::string refusal_message(std::string_view id, std::string_view error);
std::string result_message(std::string_view id, std::string_view result);
std::string error_message(std::string_view id, int code, std::string_view message,
                          std::string_view data = {});

}  // namespace corral::wire
