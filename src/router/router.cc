// The life of a router: who is attached, how the instance opens, and what its loss means to everybody.
#include "router/router.h"

#include <algorithm>

#include "knowledge/server_version.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {

Router::Router(Loop& loop, RouterOptions options, Listener& listener, Learner& learner)
    : loop_(loop),
      options_(std::move(options)),
      listener_(listener),
      learner_(learner),
      deadlines_(loop),
      health_timer_(loop) {}

Router::~Router() = default;

Result<void> Router::start(proc::Spawner& spawner, const proc::LaunchSpec& spec, std::size_t line_cap,
                           const instance::JournalEntry& entry) {
  auto instance = instance::Instance::start(loop_, spawner, spec, line_cap, *this, entry);
  if (!instance) return instance.error();
  instance_ = std::move(*instance);
  return {};
}

void Router::open(const instance::Opening& opening) { instance_->open(opening); }

// ---- sessions come and go

void Router::attach(SessionPort& port) {
  sessions_[port.id()] = &port;
  last_used_ = Clock::now();
  if (modern()) {
    if (port.era() == knowledge::Era::Legacy) listen_for_all();
    return;
  }
  if (!options_.shared) return;
  if (const auto level = levels_.attach(port.id())) tell_level(*level, port.id());
}

void Router::restore(SessionPort& port, const Standing& standing) {
  if (standing.initialized && !modern()) {
    ready_.insert(port.id());
    if (!options_.shared) instance_->send(wire::notification_message("notifications/initialized"));
  }
  for (const ListKind kind : port.memory().lists_given()) compare_list(port, kind);
  if (modern()) return;  // all else is told again with every request
  if (const auto level = parse_log_level(standing.level)) {
    const auto told = options_.shared ? levels_.set(port.id(), *level) : level;
    if (told) tell_level(*told, port.id());
  }
  if (!standing.uris.empty()) has_asked(port);
  for (const std::string& uri : standing.uris) {
    // Its request was answered long ago: no id.
    if (options_.shared && subscriptions_.subscribe(port.id(), uri, "") != Subscriptions::Next::AskServer)
      continue;
    ask("resources/subscribe", R"({"uri":)" + wire::quoted(uri) + "}",
        {.purpose = Purpose::Subscribe, .uri = uri, .on_behalf_of = port.id()});
  }
}

void Router::detach(SessionPort& port) {
  for (const CallId up_id : calls_.of(port.id())) {
    cancel_up(up_id, "the session ended");
    calls_.cancel(up_id, Clock::now());
  }
  const std::vector<std::string> last = subscriptions_.drop(port.id());
  const auto level = levels_.drop(port.id());
  if (options_.shared && !lost_) {
    for (const std::string& uri : last) tell_unsubscribed(uri, port.id());
    if (level) tell_level(*level, port.id());
  }
  if (sessions_.erase(port.id()) > 0) calls_.session_left(port.id(), Clock::now());
  ready_.erase(port.id());
  owed_.erase(port.id());
  last_used_ = Clock::now();
  call_finished();
}

void Router::give_up_calls(SessionPort& port, int code, const std::string& sentence) {
  for (const CallId up_id : calls_.of(port.id())) {
    cancel_up(up_id, sentence);
    if (const auto call = calls_.cancel(up_id, Clock::now())) fail(*call, code, sentence);
  }
  for (const std::string& id : subscriptions_.give_up(port.id())) {
    port.deliver({wire::error_message(id, code, sentence), nullptr});
  }
}

bool Router::in_use() const {
  if (calls_.awaited() > 0 || calls_.listens() > 0 || questions_.size() > 0) return true;
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session.second->memory().subscribed(); });
}

void Router::session_congested(SessionPort& port, bool congested) {
  if (!congested) pay_owed_news(port);
  if (options_.shared || lost_) return;
  paused_ = congested;
  if (congested) {
    instance_->pause();
  } else {
    instance_->resume();
  }
}

void Router::stop(instance::Instance::Haste haste) {
  health_timer_.cancel();
  instance_->stop(haste);
}

void Router::drain() {
  draining_ = true;
  call_finished();
}

/// The owner may end us: not from within the call that brought the last answer.
void Router::call_finished() {
  if (!draining_ || lost_ || calls_.awaited() > 0) return;
  loop_.post(lifetime_.guard([this] {
    if (calls_.awaited() == 0) listener_.on_calls_finished(*this);
  }));
}

// ---- opening

void Router::on_opened() {
  using Outcome = instance::Handshake::Outcome;
  if (instance_->handshake().outcome() != Outcome::Ready) return listener_.on_unusable(*this);
  objection_ =
      knowledge::objection_to_version(options_.server, instance_->handshake().result(), options_.min_version);
  if (!objection_.empty()) return listener_.on_unusable(*this);
  if (options_.confirm_modern && !modern()) {
    refuted_ = true;
    return listener_.on_unusable(*this);
  }
  if (options_.confirm_read_only && !modern()) {
    ask("tools/list", "{}", {.purpose = Purpose::ConfirmTools});
  } else {
    fit();
  }
}

void Router::fit() {
  opened_ = true;
  last_used_ = Clock::now();
  if (options_.probe.count() > 0) {
    health_.emplace(options_.probe, options_.answers_probes, last_used_);
    watch_health(options_.probe);
  }
  listener_.on_open(*this);
}

/// Under the plain profile the tools are others than we believed: nobody shares this one.
void Router::refute() {
  refuted_ = true;
  learner_.on_tools(ToolEffects::MayChange);
  listener_.on_unusable(*this);
}

// ---- the end

void Router::on_lost(const std::string& sentence) {
  lost_ = true;
  health_timer_.cancel();
  std::string why = "server " + options_.server + " " + sentence;
  const LastWords words = last_words(why);
  for (const CallId up_id : calls_.all()) {
    if (const auto call = calls_.take(up_id)) fail(*call, wire::kServerLost, words.to(call->session));
  }
  take_back_questions();
  listener_.on_server_lost(*this, words);
}

LastWords Router::last_words(const std::string& why) const {
  const std::string& tail = instance_->error_tail();
  LastWords words{why};
  if (tail.empty()) return words;
  words.stderr_end = tail.substr(0, tail.find_last_not_of("\r\n") + 1);
  words.server = options_.server;
  if (callers_.none()) words.readers = LastWords::Readers::All;
  if (const auto only = callers_.only()) {
    words.readers = LastWords::Readers::One;
    words.about = *only;
  }
  return words;
}

void Router::has_asked(const SessionPort& port) {
  callers_.add(port.id());
  if (port.of_several_programs()) callers_.add_unknown();
}

void Router::take_back_questions() {
  SessionPort* port = only_session();
  for (const QuestionId down_id : questions_.take_all()) {
    if (port == nullptr) continue;
    const std::string message = wire::cancelled_message(to_string(down_id), "the server has ended");
    port->deliver({message, nullptr});
  }
}

void Router::on_ended(const instance::Ending& ending) {
  deadlines_.cancel();
  health_timer_.cancel();
  listener_.on_instance_ended(*this, ending);
}

void Router::on_error_output(std::string_view bytes) {
  listener_.on_error_output(*this, bytes);
  if (callers_.none()) {  // it says nothing about any of them yet
    for (const SessionId session : session_ids()) {
      if (SessionPort* const port = port_of(session)) port->error_output(bytes);
    }
  } else if (SessionPort* const port = cause_of_words(Causes::AnyCall)) {
    port->error_output(bytes);
  } else {
    counters_.kept_error_bytes += bytes.size();
  }
}

void Router::on_drained() {
  replies_to_deaf_ = 0;
  for (const SessionId session : session_ids()) {
    if (SessionPort* const port = port_of(session)) port->server_drained();
  }
}

void Router::fail(const Call& call, int code, const std::string& sentence) {
  if (call.purpose == Purpose::ConfirmTools && !lost_) return refute();
  if (call.purpose == Purpose::SetLevel) level_told();
  if (call.purpose == Purpose::Subscribe) {
    for (const auto& [session, id] : subscriptions_.answered(call.uri, false)) {
      SessionPort* const port = port_of(session);
      if (port != nullptr && !id.empty()) port->deliver({wire::error_message(id, code, sentence), nullptr});
    }
  }
  if (SessionPort* const port = port_of(call.session)) {
    port->deliver({wire::error_message(call.id, code, sentence), nullptr});
  }
  call_finished();
}

// ---- deadlines

/// One timer, for the nearest deadline: a server whose calls have none, or one in an hour, wakes nobody.
/// Deadlines move only away, so a look that comes too early only starts the timer again.
void Router::watch_deadline(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max() || (deadlines_.running() && next_look_ <= deadline)) return;
  next_look_ = deadline;
  deadlines_.start(std::max(deadline - Clock::now(), Clock::duration::zero()), [this] { expire(); });
}

void Router::expire() {
  for (const CallId up_id : calls_.expired(Clock::now())) {
    ++counters_.timeouts;
    cancel_up(up_id, "the call took too long");
    if (const auto call = calls_.cancel(up_id, Clock::now())) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(call->patience).count();
      fail(*call, wire::kCallTimedOut,
           "server " + options_.server + " gave no answer within " + std::to_string(seconds) +
               " s; a longer \"timeout\" for it can be set in the configuration");
    }
  }
  watch_deadline(calls_.next_deadline());
}

SessionPort* Router::only_session() const {
  return sessions_.size() == 1 ? sessions_.begin()->second : nullptr;
}

std::vector<SessionId> Router::session_ids() const {
  std::vector<SessionId> ids;
  ids.reserve(sessions_.size());
  for (const auto& [id, port] : sessions_) ids.push_back(id);
  return ids;
}

SessionPort* Router::port_of(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

}  // namespace corral::router
