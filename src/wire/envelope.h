// The few fields of a JSON-RPC message that we need, and where they stand: found in one pass that also proves
// the text to be strict JSON (RFC 8259, UTF-8, depth at most 512). Nothing is copied, nothing re-serialised.
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
};

/// Refuses a second jsonrpc, id, method, params, result, error, or of any key above inside params and _meta,
/// also when it is written with escapes. An id must be a string or a number, a token likewise; params and
/// _meta objects; "jsonrpc" exactly "2.0".
Envelope scan(std::string_view line);

std::string_view method_name(const Envelope& envelope, std::string_view line);

/// An id or token that we made: digits only, no sign, no leading zero, below 2^53.
std::optional<std::uint64_t> own_number(std::string_view json_text);

}  // namespace corral::wire
