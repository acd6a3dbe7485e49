// The few fields of a JSON-RPC message that corral needs, and their positions. One pass finds them and proves
// that the text is strict JSON (RFC 8259, UTF-8, at most 512 levels and 1,048,576 values). Nothing is copied
// or re-serialised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/span.h"

namespace corral::wire {

enum class Kind : std::uint8_t {
  Request,       // method and id
  Notification,  // method, no id
  Response,      // id, and result or error (id may be null beside an error)
  Batch,         // an array; valid JSON
  NotRpc,        // valid JSON, but not a JSON-RPC 2.0 message: `fault` says why
  NotJson,       // `fault` says why
};

struct Envelope {
  Kind kind = Kind::NotJson;
  const char* fault = "";    // a static phrase for messages: "a second \"id\"", "invalid UTF-8" …
  std::size_t fault_at = 0;  // offset of the error

  Span id;      // JSON text with quotes; for NotRpc set if a usable (string or number) id was found
  Span method;  // without the quotes; see method_name()
  Span params;
  Span result;
  Span error;

  // Inside params, which is an object if it is present.
  Span meta;              // _meta, if it is an object
  Span progress_token;    // _meta.progressToken
  Span protocol_version;  // _meta["io.modelcontextprotocol/protocolVersion"]
  Span subscription_id;   // _meta["io.modelcontextprotocol/subscriptionId"]
  Span log_level;         // _meta["io.modelcontextprotocol/logLevel"]
  Span direct_token;      // params.progressToken in notifications/progress
  Span request_id;        // params.requestId in notifications/cancelled

  std::string method_decoded;  // only if the method was written with escapes

  /// A key differs only in case from one of those that decide the meaning of a message ("id", "method",
  /// "params"; in params "_meta", in that "progressToken"). Some parsers treat the two as equal, so the
  /// receiver may read a different message than we did.
  bool lookalike = false;
  bool lookalike_request_id = false;  // the same for "requestId" in params
};

/// Scans one line. The spans refer to `line`. Rejects a second jsonrpc, id, method, params, result or error,
/// or a second one of the keys above inside params and _meta, even when it is written with escapes, and a
/// method of more than 1,024 bytes. An id or token must be a string or a number; params and _meta must be
/// objects; "jsonrpc" must be exactly "2.0".
Envelope scan(std::string_view line);

/// The decoded method; refers to `envelope` or `line`.
std::string_view method_name(const Envelope& envelope, std::string_view line);

/// A number in the form that corral writes: digits only, no sign, no leading zero, below 2^53.
std::optional<std::uint64_t> plain_number(std::string_view text);

/// An id or token that corral issued, as it came back: a plain number, or one in quotes, because some servers
/// return a number as a string.
std::optional<std::uint64_t> own_number(std::string_view json_text);
/// The same as a `CallId` or a `QuestionId`.
template <class AnId>
std::optional<AnId> own_id(std::string_view json_text) {
  const std::optional<std::uint64_t> number = own_number(json_text);
  if (!number) return std::nullopt;
  return AnId(*number);
}

/// Whether a case-insensitive parser would read a key as `name` (in lower case). Includes the two non-ASCII
/// letters that such a parser treats as k and s.
bool same_but_for_case(std::string_view key, std::string_view name);

}  // namespace corral::wire
