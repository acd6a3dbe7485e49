// Converts a legacy server's messages to the modern era. Pure; works on the text of the messages, so a large
// result is edited in place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bridge/changes.h"
#include "wire/span.h"

namespace corral::bridge {

inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";

inline constexpr int kResourceNotFound = -32002;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUrlElicitationRequired = -32042;

/// What the result of initialize says about a server.
struct LegacyServer {
  std::string info;  // the `_meta` member with its serverInfo; empty if it is too large to repeat
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  bool subscribe = false;
  bool logging = false;
};
LegacyServer read_server(std::string_view initialize_result);

/// Converts a result of `method`, a span of `line`, to the modern era. False if it is not an object.
bool complete_result(std::string_view line, wire::Span result, std::string_view method, std::string_view info,
                     Edits& edits);

/// A result of tools/list without the members for tasks; empty if it has none.
std::optional<std::string> without_tasks(std::string_view result);

/// The code of an error object; empty if it is not an integer.
std::optional<int> error_code(std::string_view error);

/// Gives the error, a span of `line`, a code of the modern era. `uri` is the requested resource, JSON or
/// empty.
void modern_error(std::string_view line, wire::Span error, std::string_view uri, Edits& edits);

bool is_object(std::string_view json);

}  // namespace corral::bridge
