#include "transport/http_rules.h"

#include <algorithm>
#include <array>

#include "http/text.h"
#include "transport/header_values.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/log_level.h"
#include "wire/revisions.h"

namespace corral::transport {
namespace {

constexpr int kHeaderMismatch = -32020;
constexpr int kMissingCapability = -32021;
constexpr int kTransportError = -32000;  // what servers usually send with a 4xx of their transport

constexpr std::string_view kVersionHeaderName = "mcp-protocol-version";
constexpr std::string_view kSessionHeaderName = "mcp-session-id";

// Each message of a batch is examined before the first is passed on; many small ones would cost many times
// their size.
constexpr std::size_t kLargestBatch = std::size_t{4} << 20;

using Refusal = std::optional<HttpRefusal>;

HttpRefusal http_refusal(int status, int code, std::string message) {
  return {status, code, std::move(message), {}, {}};
}

HttpRefusal header_mismatch(std::string message) {
  return http_refusal(400, kHeaderMismatch, "Header mismatch: " + std::move(message));
}

HttpRefusal method_not_allowed(std::string message) {
  HttpRefusal refusal = http_refusal(405, kTransportError, std::move(message));
  refusal.allow = "POST";
  return refusal;
}

/// A line end terminates a message on its way to a server. A JSON string cannot contain one unescaped, so all
/// of them are white space, and replacing them keeps every span valid.
std::shared_ptr<const std::string> on_one_line(std::shared_ptr<const std::string> body) {
  // Two searches for one byte each are many times faster than one for either.
  if (body->find('\n') == std::string::npos && body->find('\r') == std::string::npos) return body;
  auto flat = std::make_shared<std::string>(*body);
  std::replace_if(
      flat->begin(), flat->end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return flat;
}

/// A version with the form of a date before the modern era that is not one of the legacy revisions.
bool looks_legacy(std::string_view version) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != wire::kOldestModern.size() || version >= wire::kOldestModern) return false;
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (i == 4 || i == 7 ? version[i] != '-' : !digit(version[i])) return false;
  }
  return true;
}

HttpRefusal unsupported_legacy_version() {
  return http_refusal(400, kTransportError,
                      "Bad Request: the MCP-Protocol-Version header names a revision that corral does not "
                      "support; it supports " +
                          wire::revisions_in_words());
}

bool says_legacy_version(const http::Request& request) {
  return std::all_of(request.headers.begin(), request.headers.end(), [](const http::Header& header) {
    return !http::same_word(header.name, kVersionHeaderName) || wire::is_legacy_version(header.value);
  });
}

// ---- before the body

Refusal check_media_types(const http::Request& request) {
  constexpr std::string_view kJson = "application/json";
  const std::string_view value = request.header("content-type");
  if (request.count("content-type") == 1 && (value == kJson || media_type(value) == kJson))
    return std::nullopt;
  return http_refusal(415, kTransportError, "Unsupported Media Type: send the message as application/json");
}

Refusal check_accept(const http::Request& request) {
  constexpr std::string_view kUsual = "application/json, text/event-stream";  // as both SDKs write it
  if (request.count("accept") == 1 && request.header("accept") == kUsual) return std::nullopt;
  if (accepts(request, "application/json") && accepts(request, "text/event-stream")) return std::nullopt;
  return http_refusal(
      406, kTransportError,
      "Not Acceptable: an answer may be application/json or text/event-stream; the Accept header "
      "must list both");
}

wire::Message message_in(const http::Request& request) {
  auto body = on_one_line(request.body);
  const std::string_view text = *body;
  return wire::Message(wire::Line{text, std::move(body)});
}

Refusal check_json(const Posted& posted) {
  const wire::Message& message = posted.message;
  if (message.kind() != wire::Kind::NotJson && message.kind() != wire::Kind::NotRpc) return std::nullopt;
  const std::string where = std::string(message.fault()) + " at byte " + std::to_string(message.fault_at());
  if (message.kind() == wire::Kind::NotJson)
    return http_refusal(400, wire::kParseError, "Parse error: " + where);
  return http_refusal(400, wire::kInvalidRequest, "Invalid Request: " + where);
}

// ---- the modern era

std::string no_batches() {
  return "the revision " + std::string(wire::kModern) + " has no batches; send one message per request";
}

bool is_object_member(std::string_view object, std::string_view key) {
  return wire::is_object(wire::member_text(object, key));
}

Refusal check_meta(const Posted& posted) {
  const wire::Message& message = posted.message;
  const auto invalid = [](const std::string& what) {
    return http_refusal(400, wire::kInvalidParams, "Invalid params: " + what);
  };
  if (!message.has_meta()) {
    return invalid("a request of the revision " + std::string(wire::kModern) +
                   " needs an object params._meta with "
                   "io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities");
  }
  if (!wire::string_value(message.protocol_version())) {
    return invalid("params._meta needs a string io.modelcontextprotocol/protocolVersion");
  }
  if (!is_object_member(message.meta(), "io.modelcontextprotocol/clientCapabilities")) {
    return invalid(
        "params._meta needs an object io.modelcontextprotocol/clientCapabilities; {} declares none");
  }
  if (!message.has_log_level()) return std::nullopt;
  const auto level = wire::string_value(message.log_level());
  if (level && wire::parse_log_level(*level)) return std::nullopt;
  return invalid(
      "io.modelcontextprotocol/logLevel must be one of debug, info, notice, warning, error, "
      "critical, alert, emergency");
}

enum class Mirror : std::uint8_t { Plain, MayBeEncoded };  // as =?base64?…?=

/// `shown` is the header name as it is usually written.
Refusal check_mirror(const http::Request& request, std::string_view shown,
                     const std::optional<std::string>& in_body, Mirror mirror) {
  const bool may_be_encoded = mirror == Mirror::MayBeEncoded;
  const std::string name(shown);
  const std::size_t count = request.count(shown);
  if (count == 0)
    return header_mismatch("the " + name + " header is missing; it must repeat a part of the body");
  if (count > 1) return header_mismatch("the " + name + " header appears more than once");
  const std::string_view value = request.header(shown);
  if (!is_header_safe(value)) {
    return header_mismatch("the " + name + " header contains bytes that are not allowed in a header" +
                           (may_be_encoded ? "; encode them as =?base64?…?=" : ""));
  }
  const auto said = may_be_encoded ? mirrored_value(value) : std::optional(std::string(value));
  if (!said) return header_mismatch("the " + name + " header is not a valid =?base64?…?=");
  if (said == in_body) return std::nullopt;
  return header_mismatch("the " + name + " header does not match the body; send the same value in both");
}

Refusal check_version(const std::string& version) {
  if (wire::is_modern_version(version)) return std::nullopt;
  HttpRefusal refusal = http_refusal(400, wire::kUnsupportedVersion, "Unsupported protocol version");
  refusal.data = wire::unsupported_version_data(wire::quoted(version));
  return refusal;
}

/// The member of params that Mcp-Name repeats; empty if the method has none.
std::string_view mirrored_name(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

bool is_removed(std::string_view method) {
  constexpr std::array<std::string_view, 5> kRemoved = {"initialize", "ping", "logging/setLevel",
                                                        "resources/subscribe", "resources/unsubscribe"};
  return std::find(kRemoved.begin(), kRemoved.end(), method) != kRemoved.end();
}

Refusal check_modern_request(const http::Request& request, const Posted& posted) {
  if (Refusal refusal = check_meta(posted)) return refusal;
  const std::string version = wire::string_value(posted.message.protocol_version()).value_or("");
  if (Refusal refusal = check_mirror(request, "MCP-Protocol-Version", version, Mirror::Plain)) return refusal;
  if (Refusal refusal = check_version(version)) return refusal;
  const std::string method(posted.message.method());
  if (Refusal refusal = check_mirror(request, "Mcp-Method", method, Mirror::Plain)) return refusal;
  if (const std::string_view key = mirrored_name(method); !key.empty()) {
    const auto name = wire::string_member(posted.message.params(), key);
    if (Refusal refusal = check_mirror(request, "Mcp-Name", name, Mirror::MayBeEncoded)) return refusal;
  }
  if (!is_removed(method)) return std::nullopt;  // for other methods the server decides
  return http_refusal(404, wire::kMethodNotFound,
                      "Method not found: the revision " + version + " has no " + method);
}

Refusal check_modern(const http::Request& request, const Posted& posted) {
  switch (posted.message.kind()) {
    case wire::Kind::Request: return check_modern_request(request, posted);
    case wire::Kind::Notification: {
      // The revision does not say which headers a notification needs, but its version must be one that we
      // support.
      const auto in_body = wire::string_value(posted.message.protocol_version());
      return check_version(in_body.value_or(std::string(request.header(kVersionHeaderName))));
    }
    case wire::Kind::Batch:
      return http_refusal(400, wire::kInvalidRequest, "Invalid Request: " + no_batches());
    default:
      return http_refusal(400, wire::kInvalidRequest,
                          "Invalid Request: a client of the revision " + std::string(wire::kModern) +
                              " must not send responses; answer a "
                              "question of the server by sending the request again with inputResponses");
  }
}

// ---- the legacy era

struct BatchContents {
  bool readable = false;
  bool modern = false;
  bool initialize = false;
};

BatchContents look_into_batch(std::string_view text) {
  BatchContents contents;
  const auto elements =
      text.size() <= kLargestBatch ? wire::array_elements(text, wire::kMostInBatch) : std::nullopt;
  contents.readable = elements && elements->size() <= wire::kMostInBatch;
  if (!contents.readable) return contents;
  for (const wire::Span& element : *elements) {
    const wire::Message one(element.in(text));
    contents.modern = contents.modern || one.has_protocol_version();
    contents.initialize = contents.initialize || one.method() == "initialize";
  }
  return contents;
}

Refusal check_batch(const BatchContents& contents) {
  const auto invalid = [](const std::string& why) {
    return http_refusal(400, wire::kInvalidRequest, "Invalid Request: " + why);
  };
  if (!contents.readable)
    return invalid(
        "the batch is larger than 4 MiB or has more than 256 messages; send its messages one by one");
  if (contents.modern) return invalid(no_batches());
  if (contents.initialize) return invalid("initialize must not be in a batch; send it separately");
  return std::nullopt;
}

Refusal check_legacy(const http::Request& request, const Posted& posted) {
  if (request.count(kVersionHeaderName) > 1) {
    return http_refusal(400, kTransportError,
                        "Bad Request: the MCP-Protocol-Version header appears more than once");
  }
  if (request.count(kSessionHeaderName) > 1) {
    return http_refusal(400, kTransportError,
                        "Bad Request: the Mcp-Session-Id header appears more than once");
  }
  if (posted.message.kind() == wire::Kind::Batch) return check_batch(look_into_batch(posted.message.text()));
  return std::nullopt;
}

std::variant<Classified, RefusedPost> classify_message(const http::Request& request, Posted posted) {
  const wire::Message& message = posted.message;
  const bool initialize = message.kind() == wire::Kind::Request && message.method() == "initialize";
  const bool in_body = message.has_protocol_version();
  const bool legacy_header = says_legacy_version(request);
  const bool modern = in_body || (!legacy_header && !initialize);
  const std::string_view id = posted.answer_id();
  if (modern && !in_body && looks_legacy(request.header(kVersionHeaderName))) {
    return RefusedPost{unsupported_legacy_version(), std::string(id)};
  }
  if (Refusal refusal = modern ? check_modern(request, posted) : check_legacy(request, posted)) {
    return RefusedPost{std::move(*refusal), std::string(id)};
  }
  if (modern) return Classified{Classified::Kind::Modern, std::move(posted), {}};
  const std::string_view session = request.header(kSessionHeaderName);
  // If it names a session, that session reports that it is already initialized.
  const auto kind =
      initialize && session.empty() ? Classified::Kind::Initialize : Classified::Kind::InSession;
  return Classified{kind, std::move(posted), session};
}

}  // namespace

std::variant<Classified, RefusedPost> classify_post(const http::Request& request) {
  if (Refusal refusal = check_media_types(request)) return RefusedPost{std::move(*refusal)};
  Posted posted{message_in(request)};
  Refusal refusal = check_accept(request);
  if (!refusal) refusal = check_json(posted);
  if (!refusal) return classify_message(request, std::move(posted));
  return RefusedPost{std::move(*refusal), std::string(posted.answer_id())};
}

std::variant<Posted, RefusedPost> read_message(const http::Request& request) {
  if (Refusal refusal = check_media_types(request)) return RefusedPost{std::move(*refusal)};
  const Posted posted{message_in(request)};
  Refusal refusal = check_json(posted);
  if (!refusal) return posted;
  return RefusedPost{std::move(*refusal), std::string(posted.answer_id())};
}

int modern_status(const wire::Message& response) {
  if (!response.has_error()) return 200;
  const std::string_view code = wire::member_text(response.error(), "code");
  if (code == std::to_string(wire::kMethodNotFound)) return 404;
  for (const int refused : {kHeaderMismatch, kMissingCapability, wire::kUnsupportedVersion}) {
    if (code == std::to_string(refused)) return 400;
  }
  return 200;
}

std::optional<HttpRefusal> check_get(const http::Request& request) {
  const std::string_view version = request.header(kVersionHeaderName);
  if (request.header(kSessionHeaderName).empty() || wire::is_modern_version(version)) {
    return method_not_allowed(
        "Method Not Allowed: without a session there is nothing to GET; send messages by POST, and GET "
        "/sse/NAME for the transport of " +
        std::string(wire::kOldestLegacy));
  }
  if (!says_legacy_version(request)) return unsupported_legacy_version();
  if (request.count("accept") > 0 && accepts(request, "text/event-stream")) return std::nullopt;
  return http_refusal(406, kTransportError, "Not Acceptable: the Accept header must list text/event-stream");
}

std::optional<HttpRefusal> check_delete(const http::Request& request) {
  const std::string_view version = request.header(kVersionHeaderName);
  if (request.header(kSessionHeaderName).empty() || wire::is_modern_version(version)) {
    return method_not_allowed("Method Not Allowed: without a session there is nothing to DELETE");
  }
  if (!says_legacy_version(request)) return unsupported_legacy_version();
  return std::nullopt;
}

}  // namespace corral::transport
