// What an answer begins with, and the answers that this layer gives itself. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace corral::http {

/// How the client sees where the body ends.
struct Framing {
  enum class Kind : std::uint8_t { None, Length, Chunked, UntilClose };
  Kind kind = Kind::None;
  std::size_t length = 0;
};

/// What is said about the connection after this answer.
enum class Afterwards : std::uint8_t {
  StaysOpen,             // which is what HTTP/1.1 takes for granted
  StaysOpenAsRequested,  // which HTTP/1.0 has to be told
  Closes,
};

/// The head with its empty line. A line end in a header becomes a space: nobody writes a second header into
/// it.
std::string response_head(int status, const Headers& headers, Framing framing, Afterwards afterwards);

std::string chunk_head(std::size_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// {"error": sentence}
Response error_response(int status, std::string_view sentence);

/// 1xx, 204 and 304 have none, whatever is said about them.
bool may_have_body(int status);

}  // namespace corral::http
