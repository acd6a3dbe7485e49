#include "router/standing_requests.h"

#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

std::string text_in(std::string_view object, std::string_view key) {
  return wire::string_value(wire::member(object, key).in(object)).value_or("");
}

void answer_with_error(SessionPort& port, std::string_view id, int code, const std::string& sentence) {
  port.deliver({wire::error_message(id, code, sentence), nullptr});
}

}  // namespace

StandingRequests::StandingRequests(const RouterOptions& options, const AttachedSessions& sessions, Ask ask,
                                   Forget forget)
    : options_(options), sessions_(sessions), ask_(std::move(ask)), forget_(std::move(forget)) {}

bool StandingRequests::take(SessionPort& port, const wire::Message& request,
                            std::string_view handshake_result) {
  const std::string_view method = request.method();
  if (method == "resources/subscribe") {
    subscribe(port, request);
  } else if (method == "resources/unsubscribe") {
    unsubscribe(port, request);
  } else if (method == "logging/setLevel") {
    set_level(port, request, handshake_result);
  } else {
    return false;
  }
  return true;
}

void StandingRequests::restore(SessionPort& port, const Standing& standing) {
  if (const auto level = parse_log_level(standing.level)) {
    tell_level(options_.shared ? levels_.set(port.id(), *level) : level, port.id());
  }
  for (const std::string& uri : standing.uris) {
    // The client's own request was answered long ago: no id.
    const bool ask =
        !options_.shared || subscriptions_.subscribe(port.id(), uri, "") == Subscriptions::Next::AskServer;
    if (ask) ask_to_subscribe(uri, {.on_behalf_of = port.id()});
  }
}

void StandingRequests::attached(SessionId session) { tell_level(levels_.attach(session), session); }

void StandingRequests::left(SessionId session) {
  const std::vector<std::string> last = subscriptions_.drop(session);
  const auto level = levels_.drop(session);
  if (!options_.shared || lost_) return;
  for (const std::string& uri : last) tell_unsubscribed(uri, session);
  tell_level(level, session);
}

void StandingRequests::give_up(SessionPort& port, int code, const std::string& sentence) {
  for (const std::string& id : subscriptions_.give_up(port.id())) answer_with_error(port, id, code, sentence);
}

void StandingRequests::answered(const Call& call, const wire::Message& answer) {
  if (call.purpose == Purpose::SetLevel) level_answered();
  if (call.purpose == Purpose::Subscribe) subscription_answered(call, answer);
}

void StandingRequests::failed(const Call& call, int code, const std::string& sentence) {
  if (call.purpose == Purpose::SetLevel) level_answered();
  if (call.purpose != Purpose::Subscribe) return;
  for (const auto& [session, id] : subscriptions_.answered(call.uri, Subscriptions::Answer::Refused)) {
    SessionPort* const port = sessions_.find(session);
    if (port != nullptr && !id.empty()) answer_with_error(*port, id, code, sentence);
  }
}

// ---- subscriptions

void StandingRequests::subscribe(SessionPort& port, const wire::Message& request) {
  const std::string id(request.id());
  const std::string uri = text_in(request.params(), "uri");
  const auto refuse = [&](const std::string& why) { answer_with_error(port, id, wire::kTooManyCalls, why); };
  // What is kept for the request to the server outlives the session, if that ends before the answer.
  const std::size_t bytes = Subscriptions::kept_for(uri);
  Call call{.on_behalf_of = port.id()};
  if (Account* const account = port.account()) {
    auto held = account->take(Good::Bytes, bytes);
    if (!held) return refuse(account->objection(Good::Bytes, bytes));
    call.bytes = std::move(*held);
    auto open = account->take(Good::Requests);
    if (!open) return refuse(account->objection(Good::Requests));
    call.request = std::move(*open);
  }
  switch (subscriptions_.subscribe(port.id(), uri, id, port.account())) {
    case Subscriptions::Next::AskServer: return ask_to_subscribe(uri, std::move(call));
    case Subscriptions::Next::Wait: return;
    case Subscriptions::Next::AnswerNow:
      call.bytes = {};  // the session keeps it now
      port.memory().add_subscription(uri);
      port.deliver({wire::result_message(id, "{}"), nullptr});
      return;
    case Subscriptions::Next::NoRoom: return refuse(port.account()->objection(Good::Bytes, bytes));
    case Subscriptions::Next::Refuse:
      return refuse(
          "a session may subscribe to 1024 resources, each with a URI of at most 8192 bytes; unsubscribe "
          "from some");
  }
}

void StandingRequests::ask_to_subscribe(const std::string& uri, Call call) {
  call.purpose = Purpose::Subscribe;
  call.uri = uri;
  ask_("resources/subscribe", R"({"uri":)" + wire::quoted(uri) + "}", std::move(call));
}

void StandingRequests::unsubscribe(SessionPort& port, const wire::Message& request) {
  const std::string uri = text_in(request.params(), "uri");
  if (subscriptions_.unsubscribe(port.id(), uri)) tell_unsubscribed(uri, port.id());
  port.deliver({wire::result_message(request.id(), "{}"), nullptr});
}

/// No session waits for the answer. If the server gives none, only the last of these are remembered.
void StandingRequests::tell_unsubscribed(const std::string& uri, SessionId on_behalf_of) {
  constexpr std::size_t kMost = 1024;
  unsubscribes_.push_back(ask_("resources/unsubscribe", R"({"uri":)" + wire::quoted(uri) + "}",
                               {.purpose = Purpose::Unsubscribe, .on_behalf_of = on_behalf_of}));
  if (unsubscribes_.size() <= kMost) return;
  forget_(unsubscribes_.front());
  unsubscribes_.pop_front();
}

void StandingRequests::subscription_answered(const Call& call, const wire::Message& answer) {
  using Answer = Subscriptions::Answer;
  const bool accepted = answer.has_result();
  SessionPort* const only = options_.shared ? nullptr : sessions_.only();
  if (only != nullptr && !accepted) only->memory().remove_subscription(call.uri);
  for (const auto& [session, id] :
       subscriptions_.answered(call.uri, accepted ? Answer::Accepted : Answer::Refused)) {
    SessionPort* const port = sessions_.find(session);
    if (port == nullptr) continue;
    if (subscriptions_.holds(session, call.uri)) {
      port->memory().add_subscription(call.uri);
    } else {
      port->memory().remove_subscription(call.uri);
    }
    if (!id.empty()) port->deliver(answer.line(), {{answer.where().id, id}});
  }
  if (accepted && subscriptions_.abandoned(call.uri)) tell_unsubscribed(call.uri, call.on_behalf_of);
}

// ---- the log level

void StandingRequests::set_level(SessionPort& port, const wire::Message& request,
                                 std::string_view handshake_result) {
  const std::string_view id = request.id();
  const std::string_view capabilities = wire::member(handshake_result, "capabilities").in(handshake_result);
  if (!wire::member(capabilities, "logging").present()) {
    return answer_with_error(port, id, wire::kMethodNotFound, "Method not found: the server does not log");
  }
  const auto level = parse_log_level(text_in(request.params(), "level"));
  if (!level) {
    return answer_with_error(port, id, wire::kInvalidParams,
                             "Invalid params: level must be debug, info, notice, warning, error, "
                             "critical, alert or emergency");
  }
  tell_level(levels_.set(port.id(), *level), port.id());
  port.deliver({wire::result_message(id, "{}"), nullptr});
}

/// One at a time: for a server that does not answer nothing piles up, and in the end it has the last one.
void StandingRequests::tell_level(std::optional<LogLevel> level, SessionId on_behalf_of) {
  if (!level) return;
  if (level_asked_) {
    next_level_.reset();
    if (level != level_asked_) next_level_ = {*level, on_behalf_of};
    return;
  }
  level_asked_ = level;
  ask_("logging/setLevel", R"({"level":)" + wire::quoted(name_of(*level)) + "}",
       {.purpose = Purpose::SetLevel, .on_behalf_of = on_behalf_of});
}

void StandingRequests::level_answered() {
  level_asked_.reset();
  const auto next = std::exchange(next_level_, std::nullopt);
  if (next && !lost_) tell_level(next->first, next->second);
}

}  // namespace corral::router
