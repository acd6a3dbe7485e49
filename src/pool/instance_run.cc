#include "pool/instance_run.h"

#include <utility>

#include "pool/server_catalog.h"
#include "wire/error_codes.h"

namespace corral::pool {

using router::LastWords;
using router::Router;
using router::SessionPort;

namespace {

router::RouterOptions router_options(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                                     ServerCatalog& catalog) {
  return {
      .server = spec.server,
      .shared = decision.shared,
      .confirm_read_only = decision.confirm_annotations,
      .confirm_modern = decision.confirm_modern,
      .allows_tool = spec.allows_tool,
      .call_timeout = call_timeout(spec),
      .probe = spec.entry.probe,
      .answers_probes = catalog.answers_probes(spec),
      .min_version = spec.entry.min_version,
  };
}

}  // namespace

instance::Opening opening_for(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                              std::optional<knowledge::Era> expected, const std::string& introduction) {
  instance::Opening opening;
  opening.expected = expected;
  opening.pinned = configured_era(spec).has_value();
  opening.announce = decision.shared;
  const bool is_plain = decision.shared || introduction.empty();
  opening.initialize_params = is_plain ? instance::plain_initialize_params() : introduction;
  return opening;
}

Clock::duration InstanceRun::time_ready() const {
  return facts_.ready_since ? Clock::now() - *facts_.ready_since : Clock::duration::zero();
}

Result<void> InstanceRun::start(SlotContext& context, const ServerSpec& spec,
                                const knowledge::SharingDecision& decision, Router::Listener& listener,
                                router::Learner& learner) {
  if (const auto room = context.owner.make_room(spec); !room) return room.error();
  auto router = std::make_unique<Router>(context.loop, router_options(spec, decision, context.catalog),
                                         listener, learner);
  const instance::JournalEntry entry{context.journal, spec.server};
  const auto started =
      router->start(context.spawner, spec.launch, context.line_cap, entry, spec.make_channel);
  if (!started) return started.error();
  ++context.started;
  context.children.started(router->instance()->keeper());
  facts_ = {};
  router_ = std::move(router);
  return {};
}

void InstanceRun::fail_to_start(const Error& error) {
  facts_.last_words = {error.message};
  facts_.exit_code = instance::exit_code_of(error);
  facts_.ready_since.reset();
}

void InstanceRun::end_with(SessionId session, Haste haste) {
  facts_.ends_with = session;
  facts_.haste = haste;
}

void InstanceRun::drain(Clock::duration patience, Task too_late) {
  drain_.start(patience, std::move(too_late));
  router_->drain();
}

void InstanceRun::note_ending() {
  drain_.cancel();
  if (!facts_.ending_since) facts_.ending_since = Clock::now();
}

void InstanceRun::stop(Haste haste) {
  if (router_) router_->stop(haste);
}

void InstanceRun::detach_sessions(const ServerSpec& spec) {
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
    port->instance_lost(departure_for(facts_.cause), why.to(session));
  }
}

InstanceEnd InstanceRun::finish(const std::string& server, const instance::TreeEnd& ending) {
  const Clock::time_point now = Clock::now();
  facts_.exit_code = ending.exit_code;
  return {server,
          router_->instance()->id(),
          router_->instance()->server_pid(),
          facts_.cause,
          ending,
          std::chrono::duration_cast<std::chrono::milliseconds>(now - facts_.ending_since.value_or(now))};
}

std::unique_ptr<Router> InstanceRun::close(const instance::TreeEnd& ending) {
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
