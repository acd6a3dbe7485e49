#include "observe/control_server.h"

#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <optional>

#include "base/words.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/json_writer.h"
#include "wire/revisions.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

constexpr std::string_view kInstructions =
    "corral runs the MCP servers of this machine. get_server_info shows which servers are running, for whom, "
    "and whether there are problems; list_servers and list_sessions show details; server_logs shows what a "
    "server wrote to stderr. stop_server, restart_server, end_session and reap end only processes of this "
    "user; reap only shows what it would do unless confirm is true.";

std::string result_json(const ToolResult& result) {
  const std::string piece = wire::JsonObject().text("type", "text").text("text", result.text).json();
  wire::JsonObject object;
  object.raw("content", "[" + piece + "]");
  if (!result.structured.empty()) object.raw("structuredContent", result.structured);
  return object.flag("isError", result.failed).json();
}

/// The structured result of a tool is sent unchanged, so it must really be a JSON object.
ToolResult checked(ToolResult result) {
  if (result.structured.empty() || wire::is_strict_object(result.structured, 4)) return result;
  return tool_failure(
      "the daemon's answer is not a JSON object: it may be of another version; `corral serve --replace` "
      "starts this one");
}

/// The arguments of a call; empty if `text` is not a readable object. Missing arguments count as an empty
/// object.
std::optional<json::object> read_arguments(std::string_view text) {
  if (text.empty()) return json::object();
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

}  // namespace

/// Shared with the thread that runs the call, which checks `cancelled`.
struct ControlServer::Call {
  const Tool* tool = nullptr;
  json::object arguments;
  std::atomic<bool> cancelled = false;
  ToolResult result;
};

ControlServer::ControlServer(std::vector<Tool> tools, Surroundings surroundings)
    : tools_(std::move(tools)), surroundings_(std::move(surroundings)) {}

ControlServer::~ControlServer() = default;

void ControlServer::take(std::string_view line) { take_message(wire::Message(line)); }

void ControlServer::take_oversized(std::string_view id) {
  refuse(id, wire::kInvalidRequest,
         "Invalid Request: the line is longer than " + std::to_string(kLongestLine) + " bytes");
}

void ControlServer::take_message(const wire::Message& message) {
  switch (message.kind()) {
    case wire::Kind::Request: return take_request(message);
    case wire::Kind::Notification: return take_cancellation(message);
    case wire::Kind::Response: return;  // we have sent no requests
    case wire::Kind::Batch: return take_batch(message.text());
    case wire::Kind::NotRpc:
      return refuse(message.id(), wire::kInvalidRequest, std::string("Invalid Request: ") + message.fault());
    case wire::Kind::NotJson:
      return refuse(
          {}, wire::kParseError,
          std::string("Parse error: ") + message.fault() + " at byte " + std::to_string(message.fault_at()));
  }
}

/// Only one revision has batches. Their requests are answered one by one, which that revision allows.
void ControlServer::take_batch(std::string_view line) {
  const bool allowed = wire::legacy_revision(revision_).batches;
  const auto elements = allowed ? wire::array_elements(line, wire::kMostInBatch) : std::nullopt;
  if (!elements || elements->empty() || elements->size() > wire::kMostInBatch) {
    return refuse({}, wire::kInvalidRequest, "Invalid Request: send one message per line, not a batch");
  }
  for (const wire::Span& element : *elements) {
    const wire::Message one(element.in(line));
    if (one.kind() == wire::Kind::Batch) {
      refuse({}, wire::kInvalidRequest, "Invalid Request: a batch inside a batch");
    } else {
      take_message(one);
    }
  }
}

void ControlServer::take_request(const wire::Message& message) {
  const std::string_view id = message.id();
  const std::string_view params = message.params();
  const std::string_view method = message.method();
  if (calls_.contains(std::string(id))) {
    return refuse(id, wire::kInvalidRequest, "Invalid Request: this id belongs to a call that is still open");
  }
  if (method == "initialize") return initialize(id, params);
  if (method == "ping") return surroundings_.send(wire::result_message(id, "{}"));
  if (method == "tools/list") return list_tools(id, params);
  if (method == "tools/call") return call_tool(id, params);
  refuse(id, wire::kMethodNotFound,
         "Method not found: " + std::string(method.substr(0, 64)) +
             "; this server supports initialize, ping, tools/list and tools/call");
}

/// A cancelled call is not started if it has not begun, and is not answered. All other notifications are
/// ignored.
void ControlServer::take_cancellation(const wire::Message& message) {
  if (message.method() != "notifications/cancelled") return;
  const auto call = calls_.find(std::string(message.request_id()));
  if (call != calls_.end()) call->second->cancelled = true;
}

void ControlServer::initialize(std::string_view id, std::string_view params) {
  const std::optional<std::string> asked = wire::string_member(params, "protocolVersion");
  if (!asked) {
    return refuse(id, wire::kInvalidParams, "Invalid params: initialize needs a protocolVersion string");
  }
  revision_ = wire::legacy_revision(*asked).date;
  const std::string info = wire::JsonObject()
                               .text("name", "corral")
                               .text("title", "corral")
                               .text("version", surroundings_.version)
                               .json();
  surroundings_.send(wire::result_message(id, wire::JsonObject()
                                                  .text("protocolVersion", revision_)
                                                  .raw("capabilities", R"({"tools":{"listChanged":false}})")
                                                  .raw("serverInfo", info)
                                                  .text("instructions", kInstructions)
                                                  .json()));
}

void ControlServer::list_tools(std::string_view id, std::string_view params) {
  if (wire::member(params, "cursor").present()) {
    return refuse(id, wire::kInvalidParams,
                  "Invalid params: tools/list has only one page, so this cursor is not valid");
  }
  surroundings_.send(
      wire::result_message(id, wire::JsonObject().raw("tools", wire::array_of(tools_, to_json)).json()));
}

void ControlServer::call_tool(std::string_view id, std::string_view params) {
  const std::optional<std::string> name = wire::string_member(params, "name");
  if (!name) return refuse(id, wire::kInvalidParams, "Invalid params: a call needs the name of a tool");
  const Tool* const tool = find(*name);
  if (tool == nullptr) {
    std::vector<std::string> names;
    for (const Tool& other : tools_) names.push_back(other.name);
    const std::string shown = name->substr(0, 64);
    const std::string nearest = nearest_word(shown, names);
    return refuse(
        id, wire::kInvalidParams,
        "Unknown tool: " + shown + "; " +
            (nearest.empty() ? "tools/list shows the available tools" : "did you mean " + nearest + "?"));
  }
  std::optional<json::object> arguments = read_arguments(wire::member_text(params, "arguments"));
  // If the tool exists, an error in its arguments is reported as a tool result, because the model can see
  // that.
  const Result<void> fit =
      arguments
          ? check_arguments(*tool, *arguments)
          : Result<void>(Error{"tool " + tool->name +
                               ": the arguments are not a JSON object, or nested too deeply; tools/list "
                               "shows its inputSchema"});
  if (!fit) {
    return surroundings_.send(wire::result_message(id, result_json(tool_failure(fit.error().message))));
  }
  if (calls_.size() >= kMostCalls) {
    return refuse(id, wire::kTooManyCalls,
                  std::to_string(kMostCalls) + " calls are open: wait for one of them");
  }
  start_call(id, *tool, std::move(*arguments));
}

void ControlServer::start_call(std::string_view id, const Tool& tool, json::object arguments) {
  auto call = std::make_shared<Call>();
  call->tool = &tool;
  call->arguments = std::move(arguments);
  calls_.emplace(id, call);
  surroundings_.run(
      [call] {
        if (!call->cancelled) call->result = checked(call->tool->run(call->arguments));
      },
      lifetime_.guard([this, call, key = std::string(id)] { finish_call(key, call); }));
}

void ControlServer::finish_call(const std::string& id, const std::shared_ptr<Call>& call) {
  calls_.erase(id);
  if (!call->cancelled) surroundings_.send(wire::result_message(id, result_json(call->result)));
}

void ControlServer::refuse(std::string_view id, int code, std::string_view why) {
  surroundings_.send(wire::error_message(id, code, why));
}

const Tool* ControlServer::find(std::string_view name) const {
  for (const Tool& tool : tools_) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

}  // namespace corral::observe
