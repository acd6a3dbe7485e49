// The few fields of a JSON-RPC message that we need, and where they stand: found in one pass that also proves
// the text to be strict JSON (RFC 8259, UTF-8, at most 512 levels and 1,048,576 values). Nothing is copied,
// nothing re-serialised.
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
  NotRpc,        // valid JSON, no JSON-RPC 2.0 message: `fault` says why
  NotJson,       // `fault` says why
};

struct Envelope {
  Kind kind = Kind::NotJson;
  const char* fault = "";    // a static phrase for people: "a second \"id\"", "invalid UTF-8" …
  std::size_t fault_at = 0;  // offset of the trouble

  Span id;      // JSON text, quotes included; also set for NotRpc if a usable (string or number) one was seen
  Span method;  // between the quotes; see method_name()
  Span params;
  Span result;
  Span error;

  // Inside params, which is an object if present.
  Span meta;              // _meta, if it is an object
  Span progress_token;    // _meta.progressToken
  Span protocol_version;  // _meta["io.modelcontextprotocol/protocolVersion"]
  Span subscription_id;   // _meta["io.modelcontextprotocol/subscriptionId"]
  Span log_level;         // _meta["io.modelcontextprotocol/logLevel"]
  Span direct_token;      // params.progressToken, of notifications/progress
  Span request_id;        // params.requestId, of notifications/cancelled

  std::string method_decoded;  // only if the method was written with escapes

  /// A key is one of those that decide what a message asks for, and whose it is ("id", "method", "params"; in
  /// params "_meta", in that "progressToken"), but for upper and lower case. Some parsers take it for the
  /// same, so the receiver may read another message than we did.
  bool lookalike = false;
  bool lookalike_request_id = false;  // the same of "requestId" in params
};

/// Refuses a second jsonrpc, id, method, params, result, error, or of any key above inside params and _meta,
/// also when it is written with escapes, and a method of more than 1,024 bytes. An id must be a string or a
/// number, a token likewise; params and _meta objects; "jsonrpc" exactly "2.0".
Envelope scan(std::string_view line);

std::string_view method_name(const Envelope& envelope, std::string_view line);

/// A number as we write it: digits only, no sign, no leading zero, below 2^53.
std::optional<std::uint64_t> plain_number(std::string_view text);

/// An id or token that we made, as it came back: a plain number, or one between quotes, because some servers
/// give a number back as a string.
std::optional<std::uint64_t> own_number(std::string_view json_text);
/// The same as a `CallId` or a `QuestionId`, whichever may stand there.
template <class AnId>
std::optional<AnId> own_id(std::string_view json_text) {
  const std::optional<std::uint64_t> number = own_number(json_text);
  if (!number) return std::nullopt;
  return AnId(*number);
}

/// Whether a key means `name` (in lower case) to a parser that does not tell upper from lower case. The two
/// letters beyond ASCII that such a parser takes for k and s count, too.
bool same_but_for_case(std::string_view key, std::string_view name);

}  // namespace corral::wire
