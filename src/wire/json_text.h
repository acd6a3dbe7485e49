// Small pieces of JSON as text, for the messages that we write ourselves and the few members that we look up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/span.h"

namespace corral::wire {

/// `text` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);

/// The value of a direct member of the object `object` (valid JSON), as a span of it. A key written with
/// escapes counts. Not present if there is none or `object` is no object.
Span member(std::string_view object, std::string_view key);
/// The same as text; empty if there is none.
std::string_view member_text(std::string_view object, std::string_view key);
/// The member with its key and one comma beside it, such that leaving it out leaves valid JSON.
Span member_with_comma(std::string_view object, std::string_view key);

/// Whether the text is one strict JSON object that may stand inside `depth` other arrays and objects.
bool is_strict_object(std::string_view json, std::size_t depth = 0);

/// What a JSON string says; nothing if `json` is no string.
std::optional<std::string> string_value(std::string_view json);

/// What the string member `key` of `object` says; nothing if there is none or it is no string.
std::optional<std::string> string_member(std::string_view object, std::string_view key);

/// JSON-RPC messages without the line end: every message that we compose comes from here. Methods and
/// sentences are escaped; `id`, `params`, `result`, `error` and `data` are JSON text, from the scanner or
/// from `quoted`. An empty id is null, empty params are left out.
std::string request_message(std::string_view id, std::string_view method, std::string_view params);
std::string notification_message(std::string_view method, std::string_view params = {});
/// "notifications/cancelled"; without a reason if that is empty.
std::string cancelled_message(std::string_view request_id, std::string_view reason);
/// An error object as a whole, as a server wrote it.
std::string refusal_message(std::string_view id, std::string_view error);
std::string result_message(std::string_view id, std::string_view result);
std::string error_message(std::string_view id, int code, std::string_view message,
                          std::string_view data = {});

}  // namespace corral::wire
