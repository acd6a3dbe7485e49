// Parses the head of a request: what it asks for and where it ends. Strict where two readers of the
// same bytes could see two different requests. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "http/message.h"

namespace corral::http {

/// Why a request is refused, as an answer to it.
struct Fault {
  int status = 400;
  std::string sentence;  // for a person: what is wrong, and what to do
};

/// A head that was understood.
struct RequestHead {
  Request request;  // its body is empty, its peer null
  bool http_1_0 = false;
  bool keep_alive = false;  // the client wants to send more requests
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t length = 0;  // of the body, if it is not chunked

  bool has_body() const { return chunked || length > 0; }
};

/// `text` is everything up to and including the empty line. It must be the only empty line, and every '\n' in
/// it must follow a '\r'.
std::variant<RequestHead, Fault> parse_request_head(std::string_view text);

}  // namespace corral::http
