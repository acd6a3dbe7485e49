// What the values of some headers mean: media types, and the values that mirror a part of the body. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace corral::transport {

/// Whether an answer of this type may be sent: all Accept headers together, the most specific range decides.
/// True if there is no Accept at all.
bool accepts(const http::Request& request, std::string_view type);

/// The media type without its parameters, in lower case.
std::string media_type(std::string_view value);

/// Visible ASCII, spaces and tabs: what the specification allows in a header.
bool is_header_safe(std::string_view value);

/// A header name that may stand behind "Mcp-Param-".
bool is_token(std::string_view name);

/// What a mirrored value says: itself, or what is in `=?base64?…?=`. Nothing if that is no strict base64, or
/// the value holds what no header may hold.
std::optional<std::string> mirrored_value(std::string_view value);

}  // namespace corral::transport
