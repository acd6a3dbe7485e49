// Which era a POST belongs to, and whether it may be passed on: the rules of five revisions in the order in
// which they are checked. Pure. Access (Host, Origin, who it is) was checked before.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/message.h"
#include "transport/http_session_opener.h"
#include "transport/http_session.h"

namespace corral::transport {

struct Classified {
  enum class Kind : std::uint8_t {
    Modern,      // a request or notification of the modern era with proper _meta and headers
    Initialize,  // a legacy client begins
    InSession,   // everything else legacy; `session` may be empty: then it is refused
  };
  Kind kind;
  Posted posted;
  std::string_view session;  // Mcp-Session-Id, in the request; ignored for Modern
};

/// What the refusal's body carries as its id, when it could be read; else "null".
struct RefusedPost {
  HttpRefusal refusal;
  std::string id = "null";
};

/// Everything but Mcp-Param-*, which needs to know the tool.
std::variant<Classified, RefusedPost> classify_post(const http::Request& request);

/// A POST of HTTP+SSE: whether it is a message, or several.
std::variant<Posted, RefusedPost> read_message(const http::Request& request);

/// Mcp-Param-* against the arguments of a tools/call, by the `x-mcp-header` marks in the tool's schema.
/// `tools`: the text of a tools/list result; empty, or without the tool = nothing to check.
std::optional<HttpRefusal> check_param_headers(const http::Request& request, const Posted& posted,
                                               std::string_view tools);

/// The status of an answer to a modern request: 200, but 404 for -32601 and 400 for -32021, and so on.
int modern_status(const wire::Message& response);

/// Of GET and DELETE at an MCP endpoint: what they must say before a session is looked for.
std::optional<HttpRefusal> check_get(const http::Request& request);
std::optional<HttpRefusal> check_delete(const http::Request& request);

/// The JSON-RPC error that goes with a refusal.
http::Response refusal_response(const HttpRefusal& refusal, std::string_view id = "null");

}  // namespace corral::transport
