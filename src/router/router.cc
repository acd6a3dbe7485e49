// The life of a router: who is attached, how the instance opens, and what its loss means to everybody.
#include "router/router.h"

#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {

Router::Router(Loop& loop, RouterOptions options, Owner& owner)
    : loop_(loop), options_(std::move(options)), owner_(owner), deadlines_(loop) {}

Router::~Router() = default;

Result<void> Router::start(proc::Spawner& spawner, const proc::LaunchSpec& spec, std::size_t line_cap) {
  auto instance = server::Instance::start(loop_, spawner, spec, line_cap, *this);
  if (!instance) return instance.error();
  instance_ = std::move(*instance);
  return {};
}

// ---- sessions come and go

void Router::attach(SessionPort& port, const server::Opening& opening) {
  sessions_.insert(&port);
  if (options_.shared) {
    if (const auto level = levels_.attach(&port)) tell_level(*level);
  }
  if (opened_ && !confirming_) {
    tell_opened(port);
    return;
  }
  waiting_.insert(&port);
  if (instance_->state() == server::Instance::State::Starting) instance_->open(opening);
}

void Router::detach(SessionPort& port) {
  for (const std::uint64_t up_id : calls_.of(&port)) {
    cancel_up(up_id, "the session ended");
    calls_.cancel(up_id, Clock::now());
  }
  if (options_.shared && !lost_) {
    for (const std::string& uri : subscriptions_.drop(&port)) {
      ask("resources/unsubscribe", R"({"uri":)" + wire::quoted(uri) + "}", {.purpose = Purpose::Unsubscribe});
    }
    if (const auto level = levels_.drop(&port)) tell_level(*level);
  }
  sessions_.erase(&port);
  waiting_.erase(&port);
  ready_.erase(&port);
  owed_.erase(&port);
}

void Router::give_up_calls(SessionPort& port, int code, const std::string& sentence) {
  for (const std::uint64_t up_id : calls_.of(&port)) {
    cancel_up(up_id, sentence);
    if (const auto call = calls_.cancel(up_id, Clock::now())) fail(*call, code, sentence);
  }
  for (const std::string& id : subscriptions_.give_up(&port)) {
    port.deliver({wire::error_message(id, code, sentence), nullptr});
  }
}

bool Router::failed() const {
  return opened_ && instance_->handshake().outcome() != server::Handshake::Outcome::Ready;
}

/// Two sessions never meet on a private instance, nor on one that is going.
bool Router::joinable() const {
  if (!options_.shared || lost_ || failed()) return false;
  return instance_->state() != server::Instance::State::Ending &&
         instance_->state() != server::Instance::State::Ended;
}

void Router::session_congested(SessionPort& port, bool congested) {
  if (!congested) pay_owed_news(port);
  if (options_.shared || lost_) return;
  if (congested) {
    instance_->pause();
  } else {
    instance_->resume();
  }
}

void Router::stop(server::Instance::Haste haste) { instance_->stop(haste); }

// ---- opening

void Router::on_opened() {
  using Outcome = server::Handshake::Outcome;
  const server::Handshake& handshake = instance_->handshake();
  opened_ = true;
  if (handshake.era() == server::Era::Modern && handshake.answered()) {
    owner_.learned_era(*this, handshake.outcome() == Outcome::Ready);
  }
  if (handshake.outcome() == Outcome::Ready && options_.confirm_read_only) {
    confirming_ = true;
    ask("tools/list", "{}", {.purpose = Purpose::ConfirmTools});
    return;
  }
  opened_for_all();
}

void Router::opened_for_all() {
  confirming_ = false;
  const std::set<SessionPort*> waiting = std::exchange(waiting_, {});
  for (SessionPort* port : waiting) {
    if (sessions_.contains(port)) tell_opened(*port);
  }
}

/// Under the plain profile the tools are others than we believed: nobody shares this one.
void Router::send_away() {
  confirming_ = false;
  instance_->stop(server::Instance::Haste::Polite);
  const std::set<SessionPort*> waiting = std::exchange(waiting_, {});
  for (SessionPort* port : waiting) {
    sessions_.erase(port);
    levels_.drop(port);
    port->opened({Opened::Kind::Again, nullptr, {}});
  }
}

void Router::tell_opened(SessionPort& port) {
  using Outcome = server::Handshake::Outcome;
  const server::Handshake& handshake = instance_->handshake();
  switch (handshake.outcome()) {
    case Outcome::Ready:
      if (handshake.era() == server::Era::Modern) ready_.insert(&port);
      return port.opened({Opened::Kind::Ready, this, handshake.result()});
    case Outcome::OtherEra: return port.opened({Opened::Kind::OtherEra, nullptr, {}});
    case Outcome::Refused:
    case Outcome::Waiting: return port.opened({Opened::Kind::Refused, nullptr, handshake.error()});
  }
}

// ---- the end

void Router::on_lost(const std::string& sentence) {
  lost_ = true;
  std::string why = "server " + options_.server + " " + sentence;
  if (const std::string& tail = instance_->error_tail(); !tail.empty())
    why += "; its stderr ended with: " + tail.substr(0, tail.find_last_not_of("\r\n") + 1);
  if (!opened_ || confirming_) {
    const std::set<SessionPort*> waiting = std::exchange(waiting_, {});
    const bool modern = instance_->state() != server::Instance::State::Starting &&
                        instance_->handshake().era() == server::Era::Modern;
    for (SessionPort* port : waiting) {
      port->opened({modern ? Opened::Kind::OtherEra : Opened::Kind::Failed, nullptr, why});
    }
  }
  for (const std::uint64_t up_id : calls_.all()) {
    if (const auto call = calls_.take(up_id)) fail(*call, wire::kServerLost, why);
  }
}

void Router::on_ended(const server::Ending& ending) {
  deadlines_.cancel();
  const std::set<SessionPort*> sessions = std::exchange(sessions_, {});
  for (SessionPort* port : sessions) port->instance_ended(ending);
  owner_.router_ended(*this, ending);
}

void Router::on_error_output(std::string_view bytes) {
  for (SessionPort* port : sessions_) port->error_output(bytes);
}

void Router::on_drained() {
  for (SessionPort* port : std::set<SessionPort*>(sessions_)) port->server_drained();
}

void Router::fail(const Call& call, int code, const std::string& sentence) {
  if (call.purpose == Purpose::ConfirmTools && !lost_) {
    owner_.learned_read_only(*this, false);
    return send_away();
  }
  if (call.purpose == Purpose::Subscribe) {
    for (const auto& [port, id] : subscriptions_.answered(call.uri, false)) {
      port->deliver({wire::error_message(id, code, sentence), nullptr});
    }
  }
  if (call.port != nullptr) call.port->deliver({wire::error_message(call.id, code, sentence), nullptr});
}

// ---- deadlines

void Router::watch_deadlines() {
  if (deadlines_.running() || calls_.size() == 0) return;
  deadlines_.start(std::chrono::seconds(1), [this] { expire(); });
}

void Router::expire() {
  for (const std::uint64_t up_id : calls_.expired(Clock::now())) {
    ++counters_.timeouts;
    cancel_up(up_id, "the call took too long");
    if (const auto call = calls_.cancel(up_id, Clock::now())) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(call->patience).count();
      fail(*call, wire::kCallTimedOut,
           "server " + options_.server + " gave no answer within " + std::to_string(seconds) +
               " s; a longer \"timeout\" for it can be set in the configuration");
    }
  }
  watch_deadlines();
}

SessionPort* Router::only_session() const { return sessions_.size() == 1 ? *sessions_.begin() : nullptr; }

}  // namespace corral::router
