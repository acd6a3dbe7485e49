#include "bridge/suspended_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::bridge {
namespace {

/// Questions that a server sends together are passed on together.
constexpr Clock::duration kGather = std::chrono::milliseconds(5);

// Limits for what one client may leave behind.
constexpr std::size_t kMostSuspended = 256;
constexpr std::size_t kMostQuestions = 64;  // of one call

std::string lacks(const std::string& client_id, const std::string& server, Ask ask) {
  return wire::error_message(client_id, kMissingCapability,
                             "server \"" + server + "\" needs " + std::string(name_of(ask)) +
                                 " for this, which the request does not declare in its clientCapabilities",
                             R"({"requiredCapabilities":)" + std::string(required_capabilities(ask)) + "}");
}

std::string as_url_mode(std::string_view elicitation) {
  std::string out(elicitation);
  if (!wire::member(elicitation, "mode").present()) {
    Edits edits;
    edits.add_members(elicitation, {0, elicitation.size()}, R"("mode":"url")");
    out = edits.applied(elicitation);
  }
  return out;
}

/// The elicitations of an error -32042, each in URL mode. Empty if one of them is something else, if there
/// are more than one call may ask, or if they are not an array.
std::vector<std::string> url_elicitations(std::string_view error) {
  const std::string_view data = wire::member(error, "data").in(error);
  const std::string_view array = wire::member(data, "elicitations").in(data);
  const std::vector<wire::Span> elements =
      wire::array_elements(array, kMostQuestions).value_or(std::vector<wire::Span>{});
  if (elements.size() > kMostQuestions) return {};
  std::vector<std::string> found;
  for (const wire::Span& element : elements) {
    if (!is_object(element.in(array))) return {};
    found.push_back(as_url_mode(element.in(array)));
    if (what_is_asked("elicitation/create", found.back()) != Ask::Url) return {};
  }
  return found;
}

/// What is wrong with a retry, as a sentence; its call does not change.
std::string fault_of_retry(const Call* call, const ModernRequest& request) {
  if (call == nullptr || call->method != request.method || !same_params(call->params.text, request.params)) {
    return "requestState is unknown, used up, expired or belongs to another request; call again without it";
  }
  if (!request.responses.empty() && !is_object(request.responses)) return "inputResponses must be an object";
  for (const Question& question : call->questions) {
    const std::string_view response = wire::member(request.responses, question.key).in(request.responses);
    if (question.told && !response.empty() && !is_object(response)) {
      return "inputResponses[" + wire::quoted(question.key) + "] must be an object";
    }
  }
  return "";
}

/// Removes the answered questions from the call; returns the answers in the form for the server.
std::vector<std::string> take_responses(Call& call, std::string_view responses) {
  std::vector<std::string> answers;
  std::erase_if(call.questions, [&](const Question& question) {
    const std::string_view response = wire::member(responses, question.key).in(responses);
    if (!question.told || response.empty()) return false;
    if (!question.id.empty()) answers.push_back(wire::result_message(question.id, response));
    return true;
  });
  return answers;
}

}  // namespace

SuspendedCalls::SuspendedCalls(ModernSide& side, Clock::duration suspension, Deliver deliver)
    : side_(side), calls_(side.calls), suspension_(suspension), deliver_(std::move(deliver)) {}

void SuspendedCalls::question(const wire::Message& message, Clock::time_point now) {
  const std::string_view id = message.id();
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  if (method == "ping") return side_.outlet.to_server(wire::Message(wire::result_message(id, "{}")));
  const std::optional<Ask> ask = what_is_asked(method, params);
  if (!ask) {
    return side_.outlet.to_server(wire::Message(
        wire::error_message(id, wire::kMethodNotFound,
                            "clients of revision " + std::string(wire::kModern) + " cannot be asked this")));
  }
  Question question{std::string(id), *ask, "", ""};
  if (ended_) return side_.outlet.to_server(wire::Message(dismissal(question)));
  const std::optional<UpId> cause = cause_of(*ask, now);
  if (!cause) return refuse(*ask, id, now);
  const Call& call = *calls_.find(*cause);
  if (!room_for(call, params.size())) {
    return side_.outlet.to_server(wire::Message(wire::error_message(
        id, wire::kInternalError, "too many questions are waiting for the client; ask again later")));
  }
  question.key = free_key(call, wished_key(params));
  question.request = input_request(method, params);
  add_question(*cause, std::move(question), now);
}

/// Any open call of one program will do, because its client is the right one to ask. With several programs,
/// only a call that is the only possible cause will do.
std::optional<UpId> SuspendedCalls::cause_of(Ask ask, Clock::time_point now) {
  if (!side_.several_programs) return calls_.cause_of(ask);
  const std::optional<UpId> only = calls_.only_cause(now);
  return only && calls_.find(*only)->abilities.can(ask) ? only : std::nullopt;
}

/// No open call has a client that can be asked this. If only one call can be the cause, it cannot succeed,
/// and its client is told why. With several possible causes all of them continue without an answer.
void SuspendedCalls::refuse(Ask ask, std::string_view question_id, Clock::time_point now) {
  const std::string refusal =
      wire::error_message(question_id, wire::kMethodNotFound,
                          "the client does not offer " + std::string(name_of(ask)) + " for any open request");
  const std::optional<UpId> id = calls_.only_cause(now);
  if (!id || calls_.find(*id)->suspended()) {
    const bool roots = ask == Ask::Roots && !id;
    return side_.outlet.to_server(
        wire::Message(roots ? wire::result_message(question_id, R"({"roots":[]})") : refusal));
  }
  side_.outlet.to_server(wire::Message(refusal));
  fail(*id, ask);
}

/// The client waits for the call, but cannot be asked for what the server needs.
void SuspendedCalls::fail(UpId id, Ask ask) {
  const std::optional<Call> call = calls_.take(id);
  if (!call) return;  // the server continued without it, and has answered
  dismiss(call->questions);
  if (call->in_progress()) cancel_at_server(id, "its client lacks a capability");
  dismiss_orphans();
  side_.to_client(lacks(call->client_id, side_.name, ask));
  side_.tell_level();
}

void SuspendedCalls::add_question(UpId id, Question question, Clock::time_point now) {
  Call& call = *calls_.find(id);
  if (!call.suspended() && call.questions.empty()) call.due = now + kGather;
  calls_.ask(id, std::move(question));
}

bool SuspendedCalls::room_for(const Call& call, std::size_t bytes) {
  const bool waits = call.suspended() || !call.questions.empty();
  if (!waits && calls_.waiting().size() >= kMostSuspended) return false;
  return call.questions.size() < kMostQuestions && calls_.reserve(bytes);
}

std::string SuspendedCalls::free_key(const Call& call, std::string wished) {
  const auto taken = [&](const std::string& key) {
    return std::any_of(call.questions.begin(), call.questions.end(),
                       [&](const Question& one) { return one.key == key; });
  };
  while (wished.empty() || taken(wished)) wished = "r" + std::to_string(next_key_++);
  return wished;
}

void SuspendedCalls::wants_urls(Call call, std::string_view error, Clock::time_point now) {
  if (can_be_suspended(call.method) && !call.abilities.can(Ask::Url)) {
    return side_.to_client(lacks(call.client_id, side_.name, Ask::Url));
  }
  const std::vector<std::string> pages = url_elicitations(error);
  if (pages.empty() || ended_ || !can_be_suspended(call.method) || !room_for(call, error.size())) {
    return side_.to_client(
        wire::error_message(call.client_id, wire::kInternalError,
                            "server \"" + side_.name +
                                "\" wants its user to visit a page, in a way that cannot be "
                                "passed on to this client"));
  }
  call.at_server = false;
  for (const std::string& page : pages) {
    Question question{"", Ask::Url, free_key(call, ""), input_request("elicitation/create", page)};
    call.questions.push_back(std::move(question));
  }
  const UpId id = side_.ids.next();
  calls_.add(id, std::move(call));
  tell(id, now);
}

void SuspendedCalls::tell(UpId id, Clock::time_point now) {
  Call& call = *calls_.find(id);
  std::string requests;
  for (const Question& question : call.questions) {
    if (!requests.empty()) requests.push_back(',');
    requests.append(wire::quoted(question.key)).append(":").append(question.request);
  }
  const std::string state = fresh_state();
  call.due = now + suspension_;
  const std::string client_id = calls_.suspend(id, state);
  std::string result = R"({"resultType":"input_required","inputRequests":{)" + requests;
  result.append(R"(},"requestState":)").append(wire::quoted(state));
  if (!side_.server.info.empty()) result.append(R"(,"_meta":{)").append(side_.server.info).append("}");
  side_.to_client(wire::result_message(client_id, result.append("}")));
  side_.tell_level();
}

SuspendedCalls::Retry SuspendedCalls::retry(const wire::Message& message, const ModernRequest& request,
                                            Clock::time_point now) {
  const std::optional<std::string> state = wire::string_value(request.state);
  const std::optional<UpId> id = state ? calls_.by_state(*state) : std::nullopt;
  const UpId number = id.value_or(UpId());
  Call* call = calls_.find(number);
  if (call != nullptr && call->due <= now) {
    give_up(number, "the client did not answer in time");
    call = nullptr;
  }
  const std::string fault = fault_of_retry(call, request);
  if (!fault.empty()) {
    side_.refuse(message, wire::kInvalidParams, fault);
    return Retry::Done;
  }
  std::vector<std::string> responses = take_responses(*call, request.responses);
  call->token = message.progress_token();
  calls_.resume(number, message.id(), request.abilities, request.level);
  if (!call->at_server && call->questions.empty()) {
    calls_.take(number);
    return Retry::SendAgain;
  }
  resumed(number, responses, now);
  return Retry::Done;
}

/// A retry has resumed the call.
void SuspendedCalls::resumed(UpId id, const std::vector<std::string>& responses, Clock::time_point now) {
  Call& call = *calls_.find(id);
  if (call.answer) {
    deliver_kept(id, now);
    for (const std::string& response : responses) side_.outlet.to_server(wire::Message(response));
    return;
  }
  const auto& open = call.questions;
  const auto beyond = std::find_if(
      open.begin(), open.end(), [&](const Question& question) { return !call.abilities.can(question.ask); });
  if (beyond != open.end()) {  // a retry may declare fewer capabilities than its call did
    fail(id, beyond->ask);
  } else if (std::any_of(open.begin(), open.end(), [](const Question& question) { return question.told; })) {
    tell(id, now);
  } else {
    if (!open.empty()) call.due = now + kGather;  // questions that arrived in between
    tell_missed_progress(call);
    side_.tell_level();
  }
  for (const std::string& response : responses) side_.outlet.to_server(wire::Message(response));
}

void SuspendedCalls::tell_missed_progress(Call& call) {
  const std::string missed = std::exchange(call.progress, "");
  if (!missed.empty()) side_.send_progress(call, wire::Message(missed));
}

/// The server has answered the call that a retry resumes. Questions that the retry did not answer no longer
/// belong to this call.
void SuspendedCalls::deliver_kept(UpId id, Clock::time_point now) {
  tell_missed_progress(*calls_.find(id));
  std::vector<Question> questions = calls_.take_questions(id);
  Call done = *calls_.take(id);
  const wire::Message kept = *std::exchange(done.answer, std::nullopt);
  deliver_(std::move(done), kept, now);
  pass_on(std::move(questions), now);
  side_.tell_level();
}

void SuspendedCalls::keep(Call& call, const wire::Message& message) {
  if (calls_.reserve(message.text().size())) {
    call.answer = message.owned();
    return;
  }
  const std::string refusal = wire::error_message(
      "0", wire::kAnswerTooLarge,
      "the answer of server \"" + side_.name + "\" was too large to be kept for this retry");
  call.answer = wire::Message(refusal).owned();
}

void SuspendedCalls::give_up(UpId id, std::string_view why) {
  const std::optional<Call> call = calls_.take(id);
  dismiss(call->questions);
  if (call->in_progress()) cancel_at_server(id, why);
  dismiss_orphans();
}

void SuspendedCalls::cancel_at_server(UpId id, std::string_view why) {
  calls_.gave_up(side_.now);
  side_.outlet.to_server(wire::Message(wire::cancelled_message(to_string(id), why)));
}

void SuspendedCalls::dismiss(const std::vector<Question>& questions) {
  for (const Question& question : questions) {
    if (!question.id.empty()) side_.outlet.to_server(wire::Message(dismissal(question)));
  }
}

void SuspendedCalls::dismiss_orphans() {
  if (calls_.waiting().empty() || calls_.any_cause()) return;
  const std::set<UpId> waiting = calls_.waiting();
  for (const UpId id : waiting) {
    const Call* call = calls_.find(id);
    if (call != nullptr && call->answer) dismiss(calls_.take_questions(id));
  }
}

void SuspendedCalls::pass_on(std::vector<Question> questions, Clock::time_point now) {
  if (side_.several_programs) return dismiss(questions);
  for (Question& question : questions) {
    const std::optional<UpId> cause = cause_of(question.ask, now);
    if (!cause || ended_ || question.id.empty() || !room_for(*calls_.find(*cause), question.request.size())) {
      dismiss({question});
      continue;
    }
    question.key = free_key(*calls_.find(*cause), std::move(question.key));
    question.told = false;
    add_question(*cause, std::move(question), now);
  }
}

void SuspendedCalls::cancelled(const Call& call) {
  dismiss(call.questions);
  dismiss_orphans();
}

void SuspendedCalls::client_ended() {
  ended_ = true;
  const std::set<UpId> waiting = calls_.waiting();
  for (const UpId id : waiting) {
    const Call* call = calls_.find(id);
    if (call == nullptr) continue;
    if (call->suspended()) {
      give_up(id, "the client has gone");
    } else {
      dismiss(calls_.take_questions(id));
    }
  }
}

void SuspendedCalls::expire(Clock::time_point now) {
  for (const UpId id : calls_.due(now)) {
    const Call* call = calls_.find(id);
    if (call == nullptr || call->due > now) continue;
    if (call->suspended()) {
      give_up(id, "the client did not answer in time");
    } else if (!call->questions.empty()) {
      tell(id, now);
    }
  }
}

}  // namespace corral::bridge
