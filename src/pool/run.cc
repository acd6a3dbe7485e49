#include "pool/run.h"

#include <utility>

#include "wire/error_codes.h"

namespace corral::pool {

using router::LastWords;
using router::SessionPort;

Clock::duration Run::time_ready() const {
  return facts_.ready_since ? Clock::now() - *facts_.ready_since : Clock::duration::zero();
}

void Run::begin(std::unique_ptr<router::Router> router) {
  facts_ = {};
  router_ = std::move(router);
}

void Run::fail_to_start(const Error& error) {
  facts_.last_words = {error.message};
  facts_.exit_code = instance::exit_code_of(error);
  facts_.ready_since.reset();
}

void Run::end_with(SessionId session, Haste haste) {
  facts_.left_by = session;
  facts_.haste = haste;
}

void Run::drain(Clock::duration patience, Task too_late) {
  drain_.start(patience, std::move(too_late));
  router_->drain();
}

void Run::note_ending() {
  drain_.cancel();
  if (!facts_.ending_since) facts_.ending_since = Clock::now();
}

void Run::stop(Haste haste) {
  if (router_) router_->stop(haste);
}

void Run::leave_sessions(const ServerSpec& spec) {
  const bool died = facts_.cause == Cause::Died;
  if (!died) facts_.last_words = {"server " + spec.server + " " + sentence_for(facts_.cause)};
  const LastWords why = facts_.last_words;
  const bool failed = died || facts_.cause == Cause::Hung;
  const bool restarts = spec.entry.restart;  // read here: a session that is told may replace the spec
  router_->questions().take_back();
  for (const SessionId session : router_->sessions().ids()) {
    SessionPort* const port = router_->sessions().find(session);
    if (port == nullptr) continue;                            // it left when another one was told
    if (failed && (!restarts || !port->may_ask())) continue;  // it ends with its server
    router_->give_up_calls(*port, wire::kServerLost, why.to(session));
    router_->detach(*port);
    facts_.lost_by.insert(session);
    port->instance_left(departure_for(facts_.cause), why.to(session));
  }
}

InstanceEnd Run::finish(const std::string& server, const instance::Ending& ending) {
  const Clock::time_point now = Clock::now();
  facts_.exit_code = ending.exit_code;
  return {server,
          router_->instance()->id(),
          router_->instance()->server_pid(),
          facts_.cause,
          ending,
          std::chrono::duration_cast<std::chrono::milliseconds>(now - facts_.ending_since.value_or(now))};
}

std::unique_ptr<router::Router> Run::close(const instance::Ending& ending) {
  drain_.cancel();
  for (const SessionId session : router_->sessions().ids()) {
    SessionPort* const port = router_->sessions().find(session);
    if (port == nullptr) continue;  // it left when another one was told
    router_->detach(*port);
    port->instance_ended(ending);
  }
  return std::move(router_);
}

}  // namespace corral::pool
