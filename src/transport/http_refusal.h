// An HTTP request that is refused: the status, and the JSON-RPC error in the body.
#pragma once

#include <string>
#include <string_view>

#include "http/exchange.h"

namespace corral::transport {

struct HttpRefusal {
  int status = 404;
  int code = 0;         // of the JSON-RPC error; 0 = the usual one for an error of the transport
  std::string message;  // noun, cause, what to do next
  std::string data{};   // JSON; empty = none
  std::string allow{};  // for a 405
};

/// The response to a request with this id, in JSON text; empty = null. A 429 or 503 says when to try again.
http::Response refusal_response(const HttpRefusal& refusal, std::string_view id = {});

/// Refuses a POST. Null: its client did not wait, and nothing is sent.
void refuse_post(http::Exchange* exchange, const HttpRefusal& refusal, std::string_view id = {});

}  // namespace corral::transport
