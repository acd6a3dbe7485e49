#include "router/request_rules.h"

#include <algorithm>
#include <string_view>

#include "router/tool_list.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// The value of "name" as it is written. Nothing unless exactly one key can be taken for it, by any parser.
std::string_view called_tool(std::string_view params) {
  std::size_t names = 0;
  wire::Span name;
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    // A server in C may stop reading a text at a NUL.
    if (!wire::same_but_for_case(key.substr(0, key.find('\0')), "name")) return;
    ++names;
    if (key == "name") name = member.value;
  });
  return names == 1 ? name.in(params) : std::string_view();
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; });
}

}  // namespace

std::optional<Refusal> RequestRules::refuse(const wire::Message& request) const {
  if (misleads(request)) {
    return Refusal{wire::kInvalidRequest,
                   "Invalid Request: a message to server " + options_.server +
                       " must not contain a key that differs from \"id\", \"method\", \"params\", \"_meta\" "
                       "or \"progressToken\" only in case; leave it out"};
  }
  const bool limited = options_.allows_tool && request.method() == "tools/call";
  return limited ? refuse_tool(request) : std::nullopt;
}

std::optional<Refusal> RequestRules::refuse_tool(const wire::Message& request) const {
  const std::string_view written = called_tool(request.params());
  if (is_too_long_for_a_tool(written)) {  // each pattern would be compared with all of it
    return Refusal{wire::kInvalidParams, "Invalid params: the tools of server " + options_.server +
                                             " are limited, so a tool name may be at most 1024 bytes long"};
  }
  const std::optional<std::string> tool = wire::string_value(written);
  if (!tool || has_control_character(*tool)) {
    return Refusal{wire::kInvalidRequest,
                   "Invalid Request: the tools of server " + options_.server +
                       " are limited, so tools/call must have one \"name\", a string without control "
                       "characters, and no other key that differs from it only in case"};
  }
  if (options_.allows_tool(*tool)) return std::nullopt;
  return Refusal{wire::kToolNotAllowed, "tool " + *tool +
                                            " is not allowed by \"tools\" and \"deny\" of server " +
                                            options_.server + " in corral's configuration"};
}

/// Some servers carry out a request that has no id, and only leave out the answer. So where tools are
/// limited, only what MCP calls a notification passes without an id.
bool RequestRules::allow_notification(const wire::Message& notification) const {
  if (misleads(notification)) return false;
  const bool hidden_request = options_.allows_tool && !notification.method().starts_with("notifications/");
  if (hidden_request) ++counters_.misleading;
  return !hidden_request;
}

bool RequestRules::misleads(const wire::Message& message) const {
  const bool misleads = (options_.allows_tool || options_.shared) && message.lookalike();
  if (misleads) ++counters_.misleading;
  return misleads;
}

}  // namespace corral::router
