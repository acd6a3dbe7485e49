// The life of a call: rounds of questions, what happens meanwhile, its end.
#include <algorithm>
#include <array>

#include "fixture_engine.h"

namespace corral::fakes {
namespace {

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

bool at_least(std::string_view level, std::string_view wanted) {
  const auto rank = [](std::string_view name) { return std::find(kLevels.begin(), kLevels.end(), name); };
  return rank(level) >= rank(wanted);
}

std::string notification(std::string_view method, const std::string& members) {
  return R"({"jsonrpc":"2.0","method":)" + quoted(method) +
         (members.empty() ? "" : R"(,"params":{)" + members + '}') + '}';
}

bool all_objects(std::string_view answers) {
  const auto found = members(answers);
  return std::all_of(found.begin(), found.end(), [](const auto& answer) { return is_object(answer.second); });
}

}  // namespace

void FixtureEngine::begin(const std::string& id, std::string_view method, std::string_view params) {
  Call call;
  call.id = id;
  call.method = method;
  call.params = params;
  call.capabilities = capabilities_;
  call.log_level = log_level_;
  if (world_.era == Era::Modern) {
    call.capabilities = value_at(params, {"_meta", "io.modelcontextprotocol/clientCapabilities"});
    call.log_level = text_at(params, {"_meta", "io.modelcontextprotocol/logLevel"});
    call.state = text_at(params, {"requestState"});
    const std::string_view answers = value_at(params, {"inputResponses"});
    if (!answers.empty() && (!is_object(answers) || !all_objects(answers))) {
      return fail(id, error(-32602, "inputResponses must be an object of objects"));
    }
    if (!answers.empty()) call.answers = answers.substr(1, answers.size() - 2);
  }
  calls_[id] = std::move(call);
  run(id);
}

void FixtureEngine::run(const std::string& id) {
  Call& call = calls_.at(id);
  const std::string answers = call.answers.empty() ? "" : '{' + call.answers + '}';
  const std::string state = call.state;
  const std::string_view name = text_at(call.params, {call.method == "resources/read" ? "uri" : "name"});
  const Round round{world_, name, value_at(call.params, {"arguments"}), call.capabilities, state, answers};
  const Outcome outcome = call.method == "tools/call"    ? call_tool(round)
                          : call.method == "prompts/get" ? get_prompt(round)
                                                         : read_resource(round);
  if (!outcome.questions.empty()) return ask(call, outcome);
  if (outcome.error.empty()) return play(id, outcome);
  calls_.erase(id);
  fail(id, outcome);
}

void FixtureEngine::ask(Call& call, const Outcome& outcome) {
  for (const Question& question : outcome.questions) {
    const std::string_view needed = capability_for(question.method);
    if (!question.anyway && value_at(call.capabilities, {needed}).empty()) return refuse(call, needed);
  }
  if (world_.era == Era::Modern) return require_input(call, outcome);
  call.state = outcome.state;
  for (const Question& question : outcome.questions) {
    const std::string id = std::to_string(++last_ask_);
    call.open[id] = question.key;
    asks_[id] = call.id;
    const std::string params = question.params.empty() ? "" : question.params + ',';
    say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":)" + quoted(question.method) + R"(,"params":{)" +
        params + R"("_meta":{"dev.corral/inputKey":)" + quoted(question.key) + "}}}");
  }
}

void FixtureEngine::require_input(const Call& call, const Outcome& outcome) {
  std::string requests;
  for (const Question& question : outcome.questions) {
    requests += (requests.empty() ? "" : ",") + quoted(question.key) + R"(:{"method":)" +
                quoted(question.method) + R"(,"params":{)" + question.params + "}}";
  }
  std::string result = R"({"resultType":"input_required","inputRequests":{)" + requests + '}';
  if (!outcome.state.empty()) result += R"(,"requestState":)" + quoted(outcome.state);
  const Call done = std::move(calls_.at(call.id));
  calls_.erase(done.id);
  reply(done.id, done.method, result + '}');
}

/// The client cannot be asked. A legacy tool can only say so.
void FixtureEngine::refuse(const Call& call, std::string_view capability) {
  const Call done = std::move(calls_.at(call.id));
  calls_.erase(done.id);
  const std::string message = "The client does not support " + std::string(capability);
  if (world_.era == Era::Modern) {
    const std::string data = R"({"requiredCapabilities":{)" + quoted(capability) + ":{}}}";
    return fail(done.id, error(-32021, message, data));
  }
  if (done.method != "tools/call") return fail(done.id, error(-32603, message));
  reply(done.id, done.method,
        R"({"content":[{"type":"text","text":)" + quoted(message) + R"(}],"isError":true})");
}

void FixtureEngine::take_answer(const std::string& id, std::string_view line) {
  const auto asked = asks_.find(id);
  if (asked == asks_.end()) return;
  const std::string call_id = asked->second;
  asks_.erase(asked);
  Call& call = calls_.at(call_id);
  const std::string key = call.open.at(id);
  call.open.erase(id);
  const std::string_view result = value_at(line, {"result"});
  if (result.empty()) {
    const std::string said = "The client refused: " + std::string(text_at(line, {"error", "message"}));
    for (const auto& [other, its_key] : call.open) asks_.erase(other);
    const std::string method = call.method;
    calls_.erase(call_id);
    if (method != "tools/call") return fail(call_id, error(-32603, said));
    return reply(call_id, method,
                 R"({"content":[{"type":"text","text":)" + quoted(said) + R"(}],"isError":true})");
  }
  call.answers += (call.answers.empty() ? "" : ",") + quoted(key) + ':' + std::string(result);
  if (call.open.empty()) run(call_id);
}

void FixtureEngine::play(const std::string& id, const Outcome& outcome) {
  for (const Event& event : outcome.events) {
    if (event.at == 0) {
      happen(calls_.at(id), event);
    } else {
      after(event.at, [this, id, event] {
        const auto call = calls_.find(id);
        if (call != calls_.end()) happen(call->second, event);
      });
    }
  }
  const auto end = [this, id, result = outcome.result] {
    const auto call = calls_.find(id);
    if (call == calls_.end()) return;
    const std::string method = call->second.method;
    calls_.erase(call);
    reply(id, method, result);
  };
  if (outcome.result_at == 0) return end();
  after(outcome.result_at, end);
}

void FixtureEngine::happen(const Call& call, const Event& event) {
  switch (event.kind) {
    case Event::Kind::Progress: {
      const std::string_view token = value_at(call.params, {"_meta", "progressToken"});
      if (token.empty()) return;
      return say(notification("notifications/progress",
                              R"("progressToken":)" + std::string(token) + ',' + event.params));
    }
    case Event::Kind::Log: {
      const bool wanted = !call.log_level.empty() && at_least("info", call.log_level);
      if (wanted) say(notification("notifications/message", event.params));
      return;
    }
    case Event::Kind::ToolsChanged: return tell("toolsListChanged", "notifications/tools/list_changed", "");
    case Event::Kind::PromptsChanged:
      return tell("promptsListChanged", "notifications/prompts/list_changed", "");
    case Event::Kind::ResourceUpdated:
      return tell("resourceSubscriptions", "notifications/resources/updated", event.params,
                  text_at('{' + event.params + '}', {"uri"}));
  }
}

/// Tells every client that wants to hear it. A legacy client is told of every change to a list.
void FixtureEngine::tell(std::string_view kind, std::string_view method, const std::string& members,
                         std::string_view uri) {
  const std::string about(uri);
  if (world_.era == Era::Legacy) {
    if (uri.empty() || subscribed_.contains(about)) say(notification(method, members));
    return;
  }
  for (const auto& [id, listen] : listens_) {
    if (uri.empty() ? !listen.kinds.contains(std::string(kind)) : !listen.uris.contains(about)) continue;
    say(notification(method, R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + '}' +
                                 (members.empty() ? "" : ',' + members)));
  }
}

void FixtureEngine::cancel(const std::string& id) {
  listens_.erase(id);
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  for (const auto& [question, key] : call->second.open) {
    asks_.erase(question);
    say(notification("notifications/cancelled", R"("requestId":)" + question));
  }
  calls_.erase(call);
  ++world_.cancelled;
}

}  // namespace corral::fakes
