// Parses the values of some headers: media types, and values that repeat a part of the body. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace corral::transport {

/// Whether an answer of this type may be sent: considers all Accept headers, the most specific range decides.
/// True if there is no Accept header.
bool accepts(const http::Request& request, std::string_view type);

/// The media type without parameters, in lower case.
std::string media_type(std::string_view value);

/// Only visible ASCII, spaces and tabs: what the specification allows in a header.
bool is_header_safe(std::string_view value);

/// Whether the name may follow "Mcp-Param-" in a header name.
bool is_token(std::string_view name);

/// Decodes a repeated value: the value itself, or the content of `=?base64?…?=`. Empty if that is not strict
/// base64, or the value contains bytes that are not allowed in a header.
std::optional<std::string> mirrored_value(std::string_view value);

}  // namespace corral::transport
