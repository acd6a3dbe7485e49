#include "bridge/legacy_calls.h"

#include <algorithm>
#include <utility>

#include "bridge/legacy_words.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {

namespace {

/// Only these methods may need input first.
bool may_ask(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

std::vector<Change> with_id(wire::Span where, std::string_view id) { return {{where, std::string(id)}}; }

}  // namespace

LegacyCalls::LegacyCalls(LegacySide& side) : side_(side) {
  if (side_.account == nullptr) return;
  if (auto nothing = side_.account->take(Good::Bytes, 0)) held_ = std::move(*nothing);
}

void LegacyCalls::call(const wire::Message& message) {
  const std::string_view id = message.id();
  if (calls_.size() >= kMostCalls) {
    return side_.refuse(id, wire::kTooManyCalls, "too many calls are open; wait for some of them");
  }
  const UpId up = side_.next_id();
  Call call;
  call.method = message.method();
  call.token = message.progress_token();
  call.up = up;
  if (may_ask(call.method) && message.text().size() <= kLongestKept && keep(call, message.text().size())) {
    call.request = message.owned();
  }
  ups_.emplace(up, id);
  calls_.emplace(id, std::move(call));
  side_.outlet.to_server(wire::Message(modern_request(message, up, side_.meta)));
}

void LegacyCalls::cancel(std::string_view id, std::string_view reason) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const Call call = end(found);
  if (call.up) side_.outlet.to_server(wire::Message(cancelled_message(to_string(call.up), reason)));
}

void LegacyCalls::server_answered(const wire::Message& message, Clock::time_point now) {
  const std::optional<UpId> up = wire::own_id<UpId>(message.id());
  const auto known = up ? ups_.find(*up) : ups_.end();
  if (known == ups_.end()) return;
  const std::string id = known->second;
  const auto found = calls_.find(id);
  ups_.erase(known);
  found->second.up = {};

  if (message.has_error()) return pass_error(message, end(found), id);
  const std::string_view result = message.result();
  const wire::Span written = wire::member(result, "resultType");
  const std::optional<std::string> type = wire::string_value(written.in(result));
  if (!written.present() || type == "complete") return pass_result(message, end(found), id);
  if (type == "input_required") return input_required(id, result, now);
  fail(id, "answered with a result of the type " + std::string(written.in(result).substr(0, 100)) +
               ", which clients of this protocol version cannot handle");
}

void LegacyCalls::pass_result(const wire::Message& message, const Call& call, std::string_view id) {
  std::vector<Change> changes = with_id(message.where().id, id);
  const std::string_view result = message.result();
  add_changes(changes, result_changes(call.method, result, modern_to_legacy(side_.version)),
              message.where().result.begin);
  sort_by_place(changes);
  send_changed(side_.outlet, message.line(), changes);
}

void LegacyCalls::pass_error(const wire::Message& message, const Call& call, std::string_view id) {
  const std::string_view error = message.error();
  const std::optional<std::string> missing = missing_capability(error);
  if (missing && call.method == "tools/call") {
    const std::string why = wire::string_member(error, "message").value_or("");
    return side_.answer(id, tool_error("Server '" + side_.server +
                                       "' needs a capability that this client lacks: " + *missing +
                                       (why.empty() ? "" : " (" + why + ")")));
  }
  std::vector<Change> changes = with_id(message.where().id, id);
  add_changes(changes, error_changes(call.method, error), message.where().error.begin);
  sort_by_place(changes);
  send_changed(side_.outlet, message.line(), changes);
}

void LegacyCalls::progress(const wire::Message& message) {
  const std::optional<UpId> up = wire::own_id<UpId>(message.direct_token());
  const auto known = up ? ups_.find(*up) : ups_.end();
  if (known == ups_.end()) return;
  const std::string& token = calls_.find(known->second)->second.token;
  if (!token.empty()) side_.outlet.to_client(message.line(), {{message.where().direct_token, token}});
}

/// Why no other round can follow; empty if it can.
std::optional<std::string> LegacyCalls::cannot_go_on(const Call& call) const {
  if (!may_ask(call.method)) return "asked for input, but a request of this method cannot provide any";
  if (call.rounds > kMostRounds) {
    return "asked for input more than " + std::to_string(kMostRounds) + " times; the call was given up";
  }
  if (!call.request.line().owner) {
    return "asked for input, but the request is too large to be repeated (the limit is 4 MiB for one and 64 "
           "MiB for all requests of a session); make it smaller";
  }
  return std::nullopt;
}

void LegacyCalls::input_required(const std::string& id, std::string_view result, Clock::time_point now) {
  Call& call = calls_.find(id)->second;
  ++call.rounds;
  release_answers(call);
  if (const std::optional<std::string> why = cannot_go_on(call)) return fail(id, *why);
  Result<InputRequired> input = read_input_required(result);
  if (!input) return fail(id, "asked for input " + input.error().message);
  if (!keep(call, input->state.size())) return fail(id, "asked for input with more state than can be kept");
  call.state = std::move(input->state);
  if (input->requests.empty()) {
    call.deadline = now + kPause;
    return;
  }
  for (const InputRequest& request : input->requests) {
    const std::optional<std::string> lacking = lacking_capability(request, side_.capabilities);
    if (!lacking) continue;
    return turn_down(id, "Server '" + side_.server + "' sent " + request.method +
                             ", but this client lacks the capability " + *lacking);
  }
  if (client_ended_) return turn_down(id, "The client can no longer answer questions");
  ask(id, input->requests, now);
}

void LegacyCalls::ask(const std::string& id, const std::vector<InputRequest>& requests,
                      Clock::time_point now) {
  std::vector<std::string> messages;
  Call& call = calls_.find(id)->second;
  call.deadline = now + kLeg;
  for (const InputRequest& request : requests) {
    const QuestionId number = side_.outlet.next_question();
    call.questions.push_back({number, request.key, request.method, {}});
    questions_.emplace(number, id);
    messages.push_back(question(number, request));
  }
  for (const std::string& message : messages) side_.outlet.to_client({message, nullptr});
}

void LegacyCalls::client_answered(const wire::Message& message) {
  const std::optional<QuestionId> number = wire::own_id<QuestionId>(message.id());
  const auto known = number ? questions_.find(*number) : questions_.end();
  if (known == questions_.end()) return;
  const std::string id = known->second;
  questions_.erase(known);
  Call& call = calls_.find(id)->second;
  const auto asked = std::find_if(call.questions.begin(), call.questions.end(),
                                  [&](const Question& question) { return question.id == *number; });
  const std::string_view answer = message.result();
  if (!wire::is_object(answer)) {
    const std::string_view error = message.error();
    const std::string why = wire::string_member(error, "message").value_or("the answer is not an object");
    const std::string method = asked->method;
    call.questions.erase(asked);
    return turn_down(id,
                     "The client did not answer " + method + " from server '" + side_.server + "': " + why);
  }
  if (!keep(call, answer.size())) return turn_down(id, "The client's answers are too large to be kept");
  asked->answer = answer;
  const bool all = std::none_of(call.questions.begin(), call.questions.end(),
                                [](const Question& question) { return question.answer.empty(); });
  if (all) again(id);
}

/// The next round: the same request with another id and the requested input.
void LegacyCalls::again(const std::string& id) {
  Call& call = calls_.find(id)->second;
  std::string more;
  for (const Question& question : call.questions) {
    more.append(more.empty() ? R"("inputResponses":{)" : ",").append(question.key).append(":");
    more.append(question.answer);
  }
  if (!more.empty()) more += "}";
  if (!call.state.empty())
    more.append(more.empty() ? "" : ",").append(R"("requestState":)").append(call.state);
  release_answers(call);
  const UpId up = side_.next_id();
  const std::string text = modern_request(call.request, up, side_.meta, more);
  const wire::Message message(text);
  if (message.kind() != wire::Kind::Request) {
    return turn_down(id, "The client's answer is nested too deeply to be passed on");
  }
  call.up = up;
  ups_.emplace(up, id);
  side_.outlet.to_server(message);
}

bool LegacyCalls::keep(Call& call, std::size_t bytes) {
  if (bytes > kMostKept - kept_ || !held_.resize(kept_ + bytes)) return false;
  kept_ += bytes;
  call.kept += bytes;
  return true;
}

void LegacyCalls::release(std::size_t bytes) {
  kept_ -= bytes;
  held_.resize(kept_);
}

/// Releases what the last round has left; the request stays.
void LegacyCalls::release_answers(Call& call) {
  const std::size_t request = call.request.text().size();
  release(call.kept - request);
  call.kept = request;
  call.state.clear();
  call.questions.clear();
  call.deadline.reset();
}

LegacyCalls::Call LegacyCalls::end(Calls::iterator found) {
  Call call = std::move(found->second);
  calls_.erase(found);
  ups_.erase(call.up);
  release(call.kept);
  for (const Question& question : call.questions) {
    if (questions_.erase(question.id) > 0) {
      side_.outlet.to_client({cancelled_message(to_string(question.id)), nullptr});
    }
  }
  return call;
}

void LegacyCalls::fail(const std::string& id, std::string_view sentence) {
  end(calls_.find(id));
  side_.refuse(id, wire::kInternalError, "server '" + side_.server + "' " + std::string(sentence));
}

void LegacyCalls::turn_down(const std::string& id, std::string_view sentence) {
  const Call call = end(calls_.find(id));
  if (call.method == "tools/call") return side_.answer(id, tool_error(sentence));
  side_.refuse(id, wire::kInternalError, sentence);
}

void LegacyCalls::client_ended() {
  client_ended_ = true;
  std::vector<std::string> asking;
  for (const auto& [id, call] : calls_) {
    if (!call.questions.empty()) asking.push_back(id);
  }
  for (const std::string& id : asking) turn_down(id, "The client can no longer answer questions");
}

std::optional<Clock::time_point> LegacyCalls::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const auto& [id, call] : calls_) {
    if (call.deadline && (!next || *call.deadline < *next)) next = call.deadline;
  }
  return next;
}

void LegacyCalls::expire(Clock::time_point now) {
  std::vector<std::string> due;
  for (const auto& [id, call] : calls_) {
    if (call.deadline && *call.deadline <= now) due.push_back(id);
  }
  for (const std::string& id : due) {
    const auto found = calls_.find(id);
    if (found == calls_.end() || !found->second.deadline || *found->second.deadline > now) continue;
    if (found->second.questions.empty()) {
      again(id);
    } else {
      fail(id, "asked for input, and the client did not answer within 10 minutes");
    }
  }
}

}  // namespace corral::bridge
