// Decides which era a POST belongs to and whether it may be passed on: the rules of five revisions, in the
// order in which they are checked. Pure. Access (Host, Origin, identity) was checked before.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/message.h"
#include "transport/http_refusal.h"
#include "transport/posted.h"

namespace corral::transport {

struct Classified {
  enum class Kind : std::uint8_t {
    Modern,      // a request or notification of the modern era with valid _meta and headers
    Initialize,  // a legacy client starts
    InSession,   // any other legacy message; if `session` is empty, it is refused
  };
  Kind kind;
  Posted posted;
  std::string_view session;  // Mcp-Session-Id in the request; ignored for Modern
};

/// `id` is for the body of the refusal, if it could be read; otherwise "null".
struct RefusedPost {
  HttpRefusal refusal;
  std::string id = "null";
};

/// Checks everything except Mcp-Param-*, which needs the tool. The views refer to `request`.
std::variant<Classified, RefusedPost> classify_post(const http::Request& request);

/// Checks a POST of HTTP+SSE: one message, or a batch.
std::variant<Posted, RefusedPost> read_message(const http::Request& request);

/// Compares Mcp-Param-* with the arguments of a tools/call, using the `x-mcp-header` marks in the tool's
/// schema. `tools` is the text of a tools/list result; if it is empty or does not contain the tool, nothing
/// is checked.
std::optional<HttpRefusal> check_param_headers(const http::Request& request, const Posted& posted,
                                               std::string_view tools);

/// The status of the answer to a modern request: 200, except 404 for -32601, 400 for -32021, and so on.
int modern_status(const wire::Message& response);

/// Checks of GET and DELETE at an MCP endpoint, before a session is looked up.
std::optional<HttpRefusal> check_get(const http::Request& request);
std::optional<HttpRefusal> check_delete(const http::Request& request);

}  // namespace corral::transport
