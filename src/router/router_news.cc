// From the server to the sessions.
#include "router/router.h"
#include "router/tool_list.h"
#include "wire/error_codes.h"
#include "wire/json_array.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// "tools" of notifications/tools/list_changed; empty if it is something else.
std::string_view changed_list(std::string_view method) {
  constexpr std::string_view kBefore = "notifications/";
  constexpr std::string_view kBehind = "/list_changed";
  if (!method.starts_with(kBefore) || !method.ends_with(kBehind)) return {};
  if (method.size() <= kBefore.size() + kBehind.size()) return {};
  return method.substr(kBefore.size(), method.size() - kBefore.size() - kBehind.size());
}

}  // namespace

void Router::on_message(const wire::Line& line, const wire::Envelope& envelope) {
  if (lost_) return;  // its sessions speak to another one by now
  ++said_;
  switch (envelope.kind) {
    case wire::Kind::Response: return answer(line, envelope);
    case wire::Kind::Request: return question(line, envelope);
    case wire::Kind::Notification: return news(line, envelope);
    case wire::Kind::Batch: return batch(line);
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return;  // the instance keeps those
  }
}

/// Servers of 2025-03-26 may put several messages on one line.
void Router::batch(const wire::Line& line) {
  const auto elements = wire::array_elements(line.text);
  constexpr std::size_t kMost = 1024;
  if (!elements || elements->size() > kMost) {
    ++counters_.dropped_news;
    return;
  }
  for (const wire::Span& element : *elements) {
    const wire::Line one{element.in(line.text), line.owner};
    const wire::Envelope envelope = wire::scan(one.text);
    if (envelope.kind != wire::Kind::Batch) on_message(one, envelope);
  }
}

// ---- answers

void Router::answer(const wire::Line& line, const wire::Envelope& envelope) {
  const auto up_id = wire::own_number(envelope.id.in(line.text));
  const std::optional<Call> call = up_id ? calls_.take(*up_id) : std::nullopt;
  if (!call) {
    ++(up_id && calls_.was_cancelled(*up_id) ? counters_.late_answers : counters_.unknown_answers);
    return;
  }
  ++counters_.answers;
  answer_call(*call, line, envelope);
  call_finished();
}

void Router::answer_call(const Call& call, const wire::Line& line, const wire::Envelope& envelope) {
  if (call.port == nullptr) return answer_own(call, line, envelope);
  last_used_ = loop_.now();
  if (!call.uri.empty() && envelope.result.present()) call.port->subscription(call.uri, !call.unsubscribes);
  if (call.list && envelope.result.present()) {
    const std::string_view result = envelope.result.in(line.text);
    call.port->list_given(*call.list, digest_of(*call.list, result));
    learn(*call.port, *call.list, result);
  }
  const bool tools = call.purpose == Purpose::ListTools || call.purpose == Purpose::ListMoreTools;
  if (tools && envelope.result.present()) return answer_tools(call, line, envelope);
  if (call.purpose == Purpose::Listen) {
    // The listen id stands twice: as the answer's id and inside its _meta.
    const std::string_view result = envelope.result.in(line.text);
    const wire::Span meta = wire::member(result, "_meta");
    const wire::Span inner = wire::member(meta.in(result), "io.modelcontextprotocol/subscriptionId");
    if (meta.present() && inner.present()) {
      const std::size_t base = envelope.result.begin + meta.begin;
      const wire::Span place{base + inner.begin, base + inner.end};
      if (place.begin < envelope.id.begin) {
        call.port->deliver(line, {{place, call.id}, {envelope.id, call.id}});
      } else {
        call.port->deliver(line, {{envelope.id, call.id}, {place, call.id}});
      }
      return;
    }
  }
  call.port->answer(line, envelope, call.id);
}

void Router::answer_tools(const Call& call, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view result = envelope.result.in(line.text);
  if (!options_.shared && call.purpose == Purpose::ListTools) {
    if (const auto read_only = every_tool_is_read_only(result)) owner_.learned_read_only(*this, *read_only);
  }
  if (!options_.allows_tool) return call.port->answer(line, envelope, call.id);
  call.port->deliver({wire::result_message(call.id, without_tools(result, options_.allows_tool)), nullptr});
}

void Router::answer_own(const Call& call, const wire::Line& line, const wire::Envelope& envelope) {
  const bool accepted = envelope.result.present();
  if (call.purpose == Purpose::ConfirmTools) {
    const auto read_only = accepted ? every_tool_is_read_only(envelope.result.in(line.text)) : std::nullopt;
    if (!read_only.value_or(false)) return refute();
    owner_.learned_read_only(*this, true);
    return fit();
  }
  if (call.purpose == Purpose::Probe) {
    if (!health_->proven()) owner_.learned_that_it_answers_probes(*this);
    return health_->answered();
  }
  if (call.purpose == Purpose::CompareList && accepted) compared(call, envelope.result.in(line.text));
  if (call.purpose == Purpose::ListenForAll) listen_ = 0;  // the server has ended it
  if (call.purpose != Purpose::Subscribe) return;
  if (!options_.shared && !accepted && only_session() != nullptr)
    only_session()->subscription(call.uri, false);
  for (const auto& [port, id] : subscriptions_.answered(call.uri, accepted)) {
    port->subscription(call.uri, subscriptions_.holds(port, call.uri));
    if (!id.empty()) port->deliver(line, {{envelope.id, id}});
  }
  if (accepted && subscriptions_.abandoned(call.uri)) {
    ask("resources/unsubscribe", R"({"uri":)" + wire::quoted(call.uri) + "}",
        {.purpose = Purpose::Unsubscribe});
  }
}

void Router::on_lost_answer(const std::string& id, std::size_t bytes) {
  ++counters_.lost_answers;
  const auto up_id = wire::own_number(id);
  const std::optional<Call> call = up_id ? calls_.take(*up_id) : std::nullopt;
  if (!call) return;
  fail(*call, wire::kAnswerTooLarge,
       "the answer of server " + options_.server + " has " + std::to_string(bytes) +
           " bytes, more than a line may have; raise \"line_cap\" in the configuration");
}

// ---- questions

/// Over one pipe nothing says which call a question belongs to. A private server has only one client to mean;
/// a shared one was told that its clients can do nothing, and is refused if it asks all the same.
void Router::question(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  const std::string_view id = envelope.id.in(line.text);
  if (instance_->congested()) {  // it asks and asks, and does not read
    ++counters_.refused_questions;
    return;
  }
  if (method == "ping") return instance_->send(wire::result_message(id, "{}"));
  SessionPort* port = options_.shared ? nullptr : only_session();
  constexpr std::size_t kMostQuestions = 1024;
  if (port == nullptr || questions_.size() >= kMostQuestions) {
    ++counters_.refused_questions;
    instance_->send(
        wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this"));
    if (options_.shared) owner_.learned_conversational(*this);
    return;
  }
  if (client_silent_) return answer_for_client(id, method);
  const std::uint64_t number = port->next_question();
  questions_.add(number, id, method);
  const std::string down_id = std::to_string(number);
  port->deliver(line, {{envelope.id, down_id}});
}

void Router::client_silent(SessionPort& port) {
  if (options_.shared || only_session() != &port) return;
  client_silent_ = true;
  for (const std::uint64_t down_id : questions_.all()) {
    if (const auto question = questions_.take(down_id)) answer_for_client(question->id, question->method);
  }
}

void Router::answer_for_client(std::string_view id, std::string_view method) {
  ++counters_.refused_questions;
  if (method == "elicitation/create") {
    return instance_->send(wire::result_message(id, R"({"action":"cancel"})"));
  }
  instance_->send(wire::error_message(id, wire::kInternalError, "the client has closed its output"));
}

// ---- news

void Router::news(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  if (const std::string_view what = changed_list(method); !what.empty()) {
    forget_compared(what);
    owner_.learned_of_change(*this, what);
  }
  if (method == "notifications/progress") return progress(line, envelope);
  if (method == "notifications/cancelled") return cancelled_by_server(line, envelope);
  if (envelope.subscription_id.present()) return subscribed_news(line, envelope);
  if (method == "notifications/message") return log_message(line, envelope);
  if (!options_.shared) {
    if (SessionPort* port = only_session()) return deliver_news(*port, line);
  }
  if (method.ends_with("/list_changed")) {
    for (SessionPort* port : ready_) deliver_news(*port, line);
    return;
  }
  if (method == "notifications/resources/updated") {
    const std::string_view params = envelope.params.in(line.text);
    const auto uri = wire::string_value(wire::member(params, "uri").in(params));
    const auto interested = uri ? subscriptions_.interested(*uri) : std::vector<SessionPort*>();
    for (SessionPort* port : interested) deliver_news(*port, line);
    if (!interested.empty()) return;
  }
  ++counters_.dropped_news;
}

void Router::progress(const wire::Line& line, const wire::Envelope& envelope) {
  const auto up_id = wire::own_number(envelope.direct_token.in(line.text));
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  if (call == nullptr || call->port == nullptr || call->token.empty()) {
    ++counters_.dropped_news;
    return;
  }
  if (call->patience.count() > 0) call->deadline = Clock::now() + call->patience;
  deliver_news(*call->port, line, {{envelope.direct_token, call->token}});
}

/// Legacy: the server takes a question back. Modern: it ends a listen.
void Router::cancelled_by_server(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view named = envelope.request_id.in(line.text);
  if (const auto down_id = questions_.find(named)) {
    questions_.take(*down_id);
    if (SessionPort* port = only_session()) {
      port->deliver(line, {{envelope.request_id, std::to_string(*down_id)}});
    }
    return;
  }
  const auto up_id = wire::own_number(named);
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  if (call != nullptr && call->purpose == Purpose::ListenForAll) {
    listen_ = 0;
    calls_.cancel(*up_id, Clock::now());
    return;
  }
  if (call == nullptr || call->purpose != Purpose::Listen) {
    ++counters_.dropped_news;
    return;
  }
  call->port->deliver(line, {{envelope.request_id, call->id}});
  calls_.cancel(*up_id, Clock::now());
}

/// Modern: every message of a listen carries the id of the request that opened it.
void Router::subscribed_news(const wire::Line& line, const wire::Envelope& envelope) {
  const auto up_id = wire::own_number(envelope.subscription_id.in(line.text));
  if (up_id && *up_id == listen_) return listened(line, envelope);
  Call* call = up_id ? calls_.find(*up_id) : nullptr;
  if (call == nullptr || call->purpose != Purpose::Listen) {
    ++counters_.dropped_news;
    return;
  }
  deliver_news(*call->port, line, {{envelope.subscription_id, call->id}});
}

/// A log line names no call. On a shared server it goes to the session that must be its cause: the only one
/// attached, or the only one with a call in flight (in the modern era: one that asked for logs). Otherwise it
/// goes to nobody.
void Router::log_message(const wire::Line& line, const wire::Envelope& envelope) {
  using Causes = PendingCalls::Causes;
  SessionPort* port = modern() && options_.shared ? nullptr : only_session();
  if (port == nullptr) port = calls_.only_caller(modern() ? Causes::CallsThatWantLogs : Causes::AnyCall);
  if (options_.shared && port != nullptr && calls_.others_linger(port, Clock::now())) port = nullptr;
  const std::string_view params = envelope.params.in(line.text);
  const auto level =
      parse_log_level(wire::string_value(wire::member(params, "level").in(params)).value_or(""));
  const bool wanted = port != nullptr && (!options_.shared || !level || levels_.wants(port, *level));
  if (!wanted) {
    ++counters_.dropped_log_lines;
    return;
  }
  deliver_news(*port, line);
}

/// News of a shared server may be lost by a client that does not read; an answer may not. That a list changed
/// is kept for later, once: it is all that a client needs to catch up. A private server is not read while its
/// client does not read, so nothing of it needs to be lost.
void Router::deliver_news(SessionPort& port, const wire::Line& line,
                          std::initializer_list<wire::Edit> edits) {
  if (!options_.shared || !port.congested()) return port.deliver(line, edits);
  const wire::Envelope envelope = wire::scan(line.text);
  const std::string_view method = wire::method_name(envelope, line.text);
  if (method.ends_with("/list_changed")) {
    owed_[&port].insert(std::string(method));
  } else {
    ++counters_.dropped_news;
  }
}

// ---- a listen of our own

/// A legacy client expects to hear that a list has changed, and a modern server says so only to those who
/// listen. One listen serves them all.
void Router::listen_for_all() {
  if (listen_ != 0) return;
  const std::string& opened = instance_->handshake().result();
  const std::string_view capabilities = wire::member(opened, "capabilities").in(opened);
  std::string wanted;
  for (const char* what : {"tools", "prompts", "resources"}) {
    const std::string_view capability = wire::member(capabilities, what).in(capabilities);
    if (wire::member(capability, "listChanged").in(capability) != "true") continue;
    wanted += (wanted.empty() ? "\"" : ",\"") + std::string(what) + R"(ListChanged":true)";
  }
  if (wanted.empty()) return;
  const std::string params = server::discover_params();  // {"_meta":{…}}
  listen_ = ask("subscriptions/listen",
                params.substr(0, params.size() - 1) + R"(,"notifications":{)" + wanted + "}}",
                {.purpose = Purpose::ListenForAll});
}

void Router::tell_listens(SessionPort& port, std::string_view what) {
  for (const std::uint64_t up_id : calls_.of(&port)) {
    const Call* const call = calls_.find(up_id);
    if (call == nullptr || call->purpose != Purpose::Listen) continue;
    const std::string& filter = call->listens_to;
    if (wire::member(filter, std::string(what) + "ListChanged").in(filter) != "true") continue;
    const std::string message =
        R"({"jsonrpc":"2.0","method":"notifications/)" + std::string(what) +
        R"(/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + call->id + "}}}";
    port.deliver({message, nullptr});
  }
}

void Router::listened(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view what = changed_list(wire::method_name(envelope, line.text));
  if (what.empty()) return;  // the acknowledgement
  for (SessionPort* port : std::set<SessionPort*>(sessions_)) {
    if (port->era() == server::Era::Legacy) port->list_changed(what);
  }
}

void Router::pay_owed_news(SessionPort& port) {
  const auto owed = owed_.extract(&port);
  if (owed.empty()) return;
  for (const std::string& method : owed.mapped()) {
    const std::string message = R"({"jsonrpc":"2.0","method":")" + method + "\"}";
    port.deliver({message, nullptr});
  }
}

}  // namespace corral::router
