// JSON as text: finds the members and elements of a value as spans of its text, and writes the messages that
// corral composes. Nothing is parsed into objects, because nearly everything is passed on as it was written.
// Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

struct Member {
  Span key;  // with quotes
  Span value;
};

/// Calls `each` for every member of `object` (valid JSON), in order, with the decoded key. Returns false if
/// the text is not an object; then some members may have been visited.
bool each_member(std::string_view object, const std::function<void(std::string_view key, Member)>& each);

/// Whether a JSON value, without white space around it, is an object.
inline bool is_object(std::string_view value) { return !value.empty() && value.front() == '{'; }

/// The spans to remove from `object`, in order and not overlapping, so that valid JSON without those members
/// is left. `unwanted` is called for each occurrence of a key.
std::vector<Span> cuts(std::string_view object,
                       const std::function<bool(std::string_view key, Member)>& unwanted);

/// An object with only the members that `keep` accepts, each as it is written.
std::string kept_members(std::string_view object, const std::function<bool(std::string_view key)>& keep);

/// `json` without the white space between its tokens.
std::string without_space(std::string_view json);

/// The spans of the elements of `array`, in order. Empty optional if the text is not an array; white space
/// around it is allowed. If there are more than `most` elements, returns the first `most` + 1 and ignores the
/// rest: a span needs more memory than the shortest element.
std::optional<std::vector<Span>> array_elements(std::string_view array, std::size_t most);

/// Maximum number of messages in one batch of a client.
inline constexpr std::size_t kMostInBatch = 256;

/// More tools, content blocks or messages than any useful list has.
inline constexpr std::size_t kMostElements = std::size_t{1} << 16;

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
/// The error object alone, for what becomes part of a message later.
std::string error_object(int code, std::string_view message, std::string_view data = {});
std::string error_message(std::string_view id, int code, std::string_view message,
                          std::string_view data = {});

}  // namespace corral::wire
