// From the server to the sessions.
#include "router/router.h"
#include "router/tool_list.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/oversized_line.h"

namespace corral::router {
void Router::on_message(const wire::Message& message) {
  if (lost_) return;  // its sessions speak to another one by now
  ++said_;
  switch (message.kind()) {
    case wire::Kind::Response: return answer(message);
    case wire::Kind::Request: return question(message);
    case wire::Kind::Notification: return news(message);
    case wire::Kind::Batch: return batch(message.line());
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return;  // the instance keeps those
  }
}

/// Servers of 2025-03-26 may put several messages on one line.
void Router::batch(const wire::Line& line) {
  constexpr std::size_t kMost = 1024;
  const auto elements = wire::array_elements(line.text, kMost);
  if (!elements || elements->size() > kMost) {
    ++counters_.dropped_news;
    return;
  }
  for (const wire::Span& element : *elements) {
    const wire::Message one(wire::Line{element.in(line.text), line.owner});
    if (one.kind() == wire::Kind::NotRpc) {
      const std::string id = wire::answered_id(one.text());
      if (!id.empty()) on_lost_answer({id, false, "it is not JSON-RPC 2.0: " + std::string(one.fault())});
    } else if (one.kind() != wire::Kind::Batch) {
      on_message(one);
    }
  }
}

// ---- answers

void Router::answer(const wire::Message& message) {
  const auto up_id = wire::own_id<CallId>(message.id());
  std::optional<Call> call = up_id ? calls_.answered(*up_id, loop_.now()) : std::nullopt;
  if (!call) {
    ++(up_id && calls_.was_cancelled(*up_id, loop_.now()) ? counters_.late_answers
                                                          : counters_.unknown_answers);
    return;
  }
  ++counters_.answers;
  if (!call->uri.empty()) call->bytes = {};  // what of it is kept from here on is its session's
  answer_call(*call, message);
  call_finished();
}

void Router::answer_call(const Call& call, const wire::Message& message) {
  if (!call.session) return answer_own(call, message);
  SessionPort* const port = port_of(call.session);
  if (port == nullptr) return;
  last_used_ = loop_.now();
  if (!call.uri.empty() && message.has_result()) port->memory().subscription(call.uri, !call.unsubscribes);
  if (call.list && message.has_result()) {
    const std::string_view result = message.result();
    port->memory().list_given(*call.list, digest_of(*call.list, result));
    learn(*port, *call.list, result);
  }
  const bool tools = call.purpose == Purpose::ListTools || call.purpose == Purpose::ListMoreTools;
  if (tools && message.has_result()) return answer_tools(*port, call, message);
  if (call.purpose == Purpose::Listen) {
    // The listen id stands twice: as the answer's id and inside its _meta.
    const std::string_view result = message.result();
    const wire::Span meta = wire::member(result, "_meta");
    const wire::Span inner = wire::member(meta.in(result), "io.modelcontextprotocol/subscriptionId");
    if (meta.present() && inner.present()) {
      const std::size_t base = message.where().result.begin + meta.begin;
      const wire::Span place{base + inner.begin, base + inner.end};
      if (place.begin < message.where().id.begin) {
        port->deliver(message.line(), {{place, call.id}, {message.where().id, call.id}});
      } else {
        port->deliver(message.line(), {{message.where().id, call.id}, {place, call.id}});
      }
      return;
    }
  }
  port->answer(message, call.id);
}

void Router::answer_tools(SessionPort& port, const Call& call, const wire::Message& message) {
  const std::string_view result = message.result();
  if (!options_.shared && call.purpose == Purpose::ListTools) {
    if (const auto effects = effects_of_tools(result)) learner_.on_tools(*effects);
  }
  if (!options_.allows_tool) return port.answer(message, call.id);
  port.deliver({wire::result_message(call.id, without_tools(result, options_.allows_tool)), nullptr});
}

void Router::answer_own(const Call& call, const wire::Message& message) {
  const bool accepted = message.has_result();
  if (call.purpose == Purpose::ConfirmTools) {
    const auto effects = accepted ? effects_of_tools(message.result()) : std::nullopt;
    if (effects != ToolEffects::ReadOnly) return refute();
    learner_.on_tools(ToolEffects::ReadOnly);
    return fit();
  }
  if (call.purpose == Purpose::Probe) {
    if (!health_->proven()) learner_.on_probe_answered();
    return health_->answered();
  }
  if (call.purpose == Purpose::CompareList && accepted) compared(call, message.result());
  if (call.purpose == Purpose::ListenForAll) listen_ = {};  // the server has ended it
  if (call.purpose == Purpose::SetLevel) level_told();
  if (call.purpose != Purpose::Subscribe) return;
  if (!options_.shared && !accepted && only_session() != nullptr)
    only_session()->memory().subscription(call.uri, false);
  for (const auto& [session, id] : subscriptions_.answered(call.uri, accepted)) {
    SessionPort* const port = port_of(session);
    if (port == nullptr) continue;
    port->memory().subscription(call.uri, subscriptions_.holds(session, call.uri));
    if (!id.empty()) port->deliver(message.line(), {{message.where().id, id}});
  }
  if (accepted && subscriptions_.abandoned(call.uri)) {
    tell_unsubscribed(call.uri, call.on_behalf_of);
  }
}

void Router::on_lost_answer(const instance::LostAnswer& lost) {
  ++counters_.lost_answers;
  const auto up_id = wire::own_id<CallId>(lost.id);
  // It cannot be read, but the server has said it: the call has ended like any other.
  const std::optional<Call> call = up_id ? calls_.answered(*up_id, loop_.now()) : std::nullopt;
  if (!call) {
    if (up_id && calls_.was_cancelled(*up_id, loop_.now())) ++counters_.late_answers;
    return;
  }
  if (call->purpose == Purpose::Probe) health_->answered();  // it lives, whatever it says
  if (call->purpose == Purpose::ListenForAll) listen_ = {};
  fail(*call, lost.too_large ? wire::kAnswerTooLarge : wire::kAnswerUnreadable,
       "the answer of server " + options_.server + " cannot be passed on: " + lost.why);
}

// ---- questions

/// Over one pipe nothing says which call a question belongs to. A private server has only one client to mean;
/// a shared one was told that its clients can do nothing, and is refused if it asks all the same.
void Router::question(const wire::Message& message) {
  const std::string_view method = message.method();
  const std::string_view id = message.id();
  if (method == "ping") return reply(wire::result_message(id, "{}"));
  SessionPort* port = options_.shared ? nullptr : only_session();
  constexpr std::size_t kMostQuestions = 1024;
  if (port == nullptr || questions_.size() >= kMostQuestions) {
    ++counters_.refused_questions;
    reply(wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this"));
    if (options_.shared) learner_.on_question();
    return;
  }
  if (client_silent_) return answer_for_client(id, kind_of_question(method));
  const QuestionId number = port->memory().next_question();
  questions_.add(number, id, kind_of_question(method));
  const std::string down_id = to_string(number);
  port->deliver(message.line(), {{message.where().id, down_id}});
}

/// A short word of ours to the server. A server that is only busy gets it later; one that asks and asks and
/// does not read gets no more than it could read.
void Router::reply(const std::string& message) {
  constexpr std::size_t kMostUnread = 1024;
  if (instance_->congested() && ++replies_to_deaf_ > kMostUnread) {
    ++counters_.dropped_replies;
    return;
  }
  instance_->send(message);
}

void Router::client_silent(SessionPort& port) {
  if (options_.shared || only_session() != &port) return;
  client_silent_ = true;
  for (const QuestionId down_id : questions_.all()) {
    if (const auto question = questions_.take(down_id)) answer_for_client(question->id, question->kind);
  }
}

void Router::answer_for_client(std::string_view id, QuestionKind kind) {
  ++counters_.refused_questions;
  if (kind == QuestionKind::Elicitation) return reply(wire::result_message(id, R"({"action":"cancel"})"));
  reply(wire::error_message(id, wire::kInternalError, "the client has closed its output"));
}

// ---- news

void Router::news(const wire::Message& message) {
  const std::string_view method = message.method();
  const auto changed = changed_list_of(method);
  if (changed) {
    forget_compared(*changed);
    learner_.on_list_changed(*changed);
  }
  if (method == "notifications/progress") return progress(message);
  if (method == "notifications/cancelled") return cancelled_by_server(message);
  if (message.has_subscription_id()) return subscribed_news(message);
  if (method == "notifications/message") return log_message(message);
  if (!options_.shared) {
    if (SessionPort* port = only_session()) return deliver_news(*port, message);
  }
  if (changed) {
    deliver_to_all(std::vector<SessionId>(ready_.begin(), ready_.end()), message);
    return;
  }
  if (method == "notifications/resources/updated") {
    const std::string_view params = message.params();
    const auto uri = wire::string_value(wire::member(params, "uri").in(params));
    const auto interested = uri ? subscriptions_.interested(*uri) : std::vector<SessionId>();
    deliver_to_all(interested, message);
    if (!interested.empty()) return;
  }
  ++counters_.dropped_news;
}

void Router::deliver_to_all(const std::vector<SessionId>& sessions, const wire::Message& message) {
  for (const SessionId session : sessions) {
    if (SessionPort* const port = port_of(session)) deliver_news(*port, message);
  }
}

void Router::progress(const wire::Message& message) {
  const auto up_id = wire::own_id<CallId>(message.direct_token());
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  SessionPort* const port = call != nullptr ? port_of(call->session) : nullptr;
  if (port == nullptr || call->token.empty()) {
    ++counters_.dropped_news;
    return;
  }
  if (call->patience.count() > 0) call->deadline = Clock::now() + call->patience;
  deliver_news(*port, message, {{message.where().direct_token, call->token}});
}

/// Legacy: the server takes a question back. Modern: it ends a listen.
void Router::cancelled_by_server(const wire::Message& message) {
  const std::string_view named = message.request_id();
  if (const auto down_id = questions_.find(named)) {
    questions_.take(*down_id);
    if (SessionPort* port = only_session()) {
      port->deliver(message.line(), {{message.where().request_id, to_string(*down_id)}});
    }
    return;
  }
  const auto up_id = wire::own_id<CallId>(named);
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  if (call != nullptr && call->purpose == Purpose::ListenForAll) {
    listen_ = {};
    calls_.cancel(*up_id, Clock::now());
    return;
  }
  if (call == nullptr || call->purpose != Purpose::Listen) {
    ++counters_.dropped_news;
    return;
  }
  if (SessionPort* const port = port_of(call->session))
    port->deliver(message.line(), {{message.where().request_id, call->id}});
  calls_.cancel(*up_id, Clock::now());
}

/// Modern: every message of a listen carries the id of the request that opened it.
void Router::subscribed_news(const wire::Message& message) {
  const auto up_id = wire::own_id<CallId>(message.subscription_id());
  if (up_id && *up_id == listen_) return listened(message);
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  SessionPort* const port = call != nullptr ? port_of(call->session) : nullptr;
  if (port == nullptr || call->purpose != Purpose::Listen) {
    ++counters_.dropped_news;
    return;
  }
  // A client waits for this one as for an answer, so it is not lost to a client that is slow.
  if (message.method() == "notifications/subscriptions/acknowledged") {
    call->acknowledged = true;
    return port->deliver(message.line(), {{message.where().subscription_id, call->id}});
  }
  deliver_news(*port, message, {{message.where().subscription_id, call->id}});
}

/// A log line and a line on stderr name no call. What a private server says is its session's; what a shared
/// one says belongs to the session that alone can have caused it (attribution.h), or to nobody.
SessionPort* Router::cause_of_words(Causes which) const {
  if (!options_.shared) return only_session();
  auto causes = calls_.causes(which, Clock::now());
  // A server may also speak when it works for nobody: that may be about any of its sessions.
  if (causes.none() && which == Causes::AnyCall) {
    for (const auto& [session, port] : sessions_) causes.add(session);
  }
  const auto session = causes.only();
  return session ? port_of(*session) : nullptr;
}

void Router::log_message(const wire::Message& message) {
  SessionPort* const port = cause_of_words(modern() ? Causes::CallsThatWantLogs : Causes::AnyCall);
  const std::string_view params = message.params();
  const auto level =
      parse_log_level(wire::string_value(wire::member(params, "level").in(params)).value_or(""));
  const bool wanted = port != nullptr && (!options_.shared || !level || levels_.wants(port->id(), *level));
  if (!wanted) {
    ++counters_.dropped_log_lines;
    return;
  }
  deliver_news(*port, message);
}

/// News of a shared server may be lost by a client that does not read; an answer may not. That a list changed
/// is kept for later, once: it is all that a client needs to catch up. A private server is not read while its
/// client does not read, so nothing of it needs to be lost.
void Router::deliver_news(SessionPort& port, const wire::Message& message,
                          std::initializer_list<wire::Edit> edits) {
  if (!options_.shared || !port.congested()) return port.deliver(message.line(), edits);
  if (const auto changed = changed_list_of(message.method())) {
    owed_[port.id()].insert(*changed);
  } else {
    ++counters_.dropped_news;
  }
}

// ---- a listen of our own

/// A legacy client expects to hear that a list has changed, and a modern server says so only to those who
/// listen. One listen serves them all.
void Router::listen_for_all() {
  if (listen_) return;
  const std::string& opened = instance_->handshake().result();
  const std::string_view capabilities = wire::member(opened, "capabilities").in(opened);
  std::string wanted;
  for (const char* what : {"tools", "prompts", "resources"}) {
    const std::string_view capability = wire::member(capabilities, what).in(capabilities);
    if (wire::member(capability, "listChanged").in(capability) != "true") continue;
    wanted += (wanted.empty() ? "\"" : ",\"") + std::string(what) + R"(ListChanged":true)";
  }
  if (wanted.empty()) return;
  const std::string params = instance::discover_params();  // {"_meta":{…}}
  listen_ = ask("subscriptions/listen",
                params.substr(0, params.size() - 1) + R"(,"notifications":{)" + wanted + "}}",
                {.purpose = Purpose::ListenForAll});
}

void Router::tell_listens(SessionPort& port, ChangedList list) {
  for (const CallId up_id : calls_.of(port.id())) {
    const Call* const call = calls_.find(up_id);
    if (call == nullptr || call->purpose != Purpose::Listen) continue;
    const std::string& filter = call->listens_to;
    if (wire::member(filter, std::string(name_of(list)) + "ListChanged").in(filter) != "true") continue;
    const std::string params = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + call->id + "}}";
    port.deliver({wire::notification_message(method_of(list), params), nullptr});
  }
}

void Router::listened(const wire::Message& message) {
  const auto changed = changed_list_of(message.method());
  if (!changed) return;  // the acknowledgement, or a list that no client knows
  for (const SessionId session : session_ids()) {
    SessionPort* const port = port_of(session);
    if (port != nullptr && port->era() == knowledge::Era::Legacy) port->list_changed(*changed);
  }
}

void Router::pay_owed_news(SessionPort& port) {
  const auto owed = owed_.extract(port.id());
  if (owed.empty()) return;
  for (const ChangedList list : owed.mapped()) {
    port.deliver({wire::notification_message(method_of(list)), nullptr});
  }
}

}  // namespace corral::router
