// The head of an answer, and the answers that this layer composes itself. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace corral::http {

/// How the client finds the end of the body.
struct Framing {
  enum class Kind : std::uint8_t { None, Length, Chunked, UntilClose };
  Kind kind = Kind::None;
  std::size_t length = 0;
};

/// What the answer says about the connection.
enum class Afterwards : std::uint8_t {
  StaysOpen,             // the default of HTTP/1.1
  StaysOpenAsRequested,  // HTTP/1.0 needs a header for it
  Closes,
};

/// The head with its empty line. A line end in a header becomes a space, so that no value can add a header.
std::string response_head(int status, const Headers& headers, Framing framing, Afterwards afterwards);

/// The line before a chunk of this size.
std::string chunk_head(std::size_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// An answer with the body {"error": sentence}.
Response error_response(int status, std::string_view sentence);

/// False for 1xx, 204 and 304.
bool may_have_body(int status);

}  // namespace corral::http
