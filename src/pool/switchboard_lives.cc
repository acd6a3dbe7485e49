// The life of each place: what happens to it, and what is done about it. server/lifecycle.cc decides, this
// carries out.
#include <algorithm>

#include "base/log.h"
#include "instance/lost_keeper.h"
#include "pool/slot_events.h"
#include "pool/switchboard.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::pool {

using instance::Instance;
using knowledge::Era;
using pool::Happening;
using pool::Life;
using pool::Step;

void Switchboard::tell(events::Event event) const {
  if (events_ != nullptr) events_->tell(std::move(event));
}

void Switchboard::happen(Place& place, Happening happening) {
  const pool::Next next = pool::next(place.life, happening);
  place.life = next.life;
  switch (next.step) {
    case Step::None: return;
    case Step::Start: return start(place);
    case Step::Attach: return attach_askers(place);
    case Step::Refuse: return refuse_askers(place);
    case Step::Drain: return drain(place);
    case Step::End: return end(place, place.haste);
    case Step::Kill: return end(place, Instance::Haste::Now);
    case Step::Delay: return delay(place);
    case Step::Revive: return revive(place);
  }
}

// ---- starting

void Switchboard::start(Place& place) {
  const Result<void> started = start_instance(place);
  if (started) return;
  place.last_words = {started.error().message};
  place.last_exit_code = instance::exit_code_of(started.error());
  for (Asker& asker : place.askers) asker.failed = true;
  place.ready_since.reset();
  happen(place, Happening::Lost);
  died(place);
}

Result<void> Switchboard::start_instance(Place& place) {
  if (const auto room = make_room(*place.wanted); !room) return room.error();
  const Wanted& wanted = *place.wanted;
  router::RouterOptions options{
      .server = wanted.server,
      .shared = place.decision.shared,
      .confirm_read_only = place.decision.confirm_annotations,
      .confirm_modern = place.decision.confirm_modern,
      .allows_tool = wanted.allows_tool,
      .call_timeout = wanted.call_timeout,
      .probe = wanted.probe,
      .answers_probes = catalog_.answers_probes(wanted),
      .min_version = wanted.min_version,
  };
  router::Router::Owner& self = *this;
  auto router = std::make_unique<router::Router>(loop_, std::move(options), self);
  const instance::JournalEntry entry{journal_, wanted.server};
  if (const auto started = router->start(spawner_, wanted.spec, line_cap_, entry); !started)
    return started.error();
  ++started_;
  children_.started(router->instance()->keeper());
  place.router = std::move(router);
  place.cause = Cause::Died;
  place.haste = Instance::Haste::Polite;
  place.ending_since.reset();
  place.ready_since.reset();
  place.left_by = {};
  place.left.clear();
  place.build = {};
  place.stale.clear();
  if (!place.askers.empty()) {
    place.started_for = place.askers.front().port->owner();
    place.askers.front().way = "spawn";
  }
  tell(started_event(place));
  place.router->open(opening_of(place));
  return {};
}

instance::Opening Switchboard::opening_of(const Place& place) {
  const Wanted& wanted = *place.wanted;
  instance::Opening opening;
  opening.expected = place.silent_probe ? Era::Legacy : catalog_.era_of(wanted);
  opening.pinned = wanted.era.has_value();
  opening.announce = place.decision.shared;
  opening.initialize_params = instance::plain_initialize_params();
  if (place.decision.shared) return opening;
  if (!place.introduction.empty()) opening.initialize_params = place.introduction;
  if (!place.askers.empty()) opening.initialize_params = place.askers.front().initialize_params;
  return opening;
}

void Switchboard::router_error_output(router::Router& router, std::string_view bytes) {
  const Place* const place = place_of(router);
  if (place == nullptr) return;
  if (error_files_ != nullptr)
    error_files_->write(place->wanted->server, router.instance()->id().text(), bytes);
  if (router.opened()) return;  // its sessions hear it themselves
  for (const Asker& asker : place->askers) asker.port->error_output(bytes);
}

void Switchboard::router_opened(router::Router& router) {
  Place& place = *place_of(router);
  place.ready_since = Clock::now();
  place.silent_probe = false;
  learn_build(place);
  tell(ready_event(place));
  watch_use(place, place.wanted->idle);
  happen(place, Happening::Opened);
}

void Switchboard::attach_askers(Place& place) {
  while (place.life == Life::Ready && !place.askers.empty()) {
    const Asker asker = std::move(place.askers.front());
    router::SessionPort& port = *asker.port;
    place.askers.pop_front();
    place.router->attach(port);
    tell(attached_event(place, asker));
    if (!place.stale.empty() && place.wanted->on_change == config::OnChange::Warn) {
      port.note("server " + place.wanted->server + " runs old code: " + place.stale + "; `corral restart " +
                place.wanted->server + "` runs the new code");
    }
    port.opened({router::Opened::Kind::Ready, place.router.get(),
                 place.router->instance()->handshake().result(), 0, place.wanted});
  }
}

// ---- what goes wrong

/// A first start that went wrong is told at once; after a death another start may do better.
void Switchboard::router_unfit(router::Router& router) {
  Place& place = *place_of(router);
  const bool first = place.life == Life::Starting;
  if (!first && place.life != Life::Restarting) return;  // it is being ended already
  const instance::Handshake& handshake = router.instance()->handshake();
  place.cause = Cause::Unfit;
  place.last_words = {"server " + place.wanted->server + " refused the handshake"};
  if (handshake.outcome() == instance::Handshake::Outcome::NotModern) {
    place.silent_probe = true;  // those who wait go on waiting, for the next one
    return happen(place, Happening::Unfit);
  }
  if (!router.objection().empty()) place.last_words = {router.objection()};
  happen(place, Happening::Unfit);
  for (const Asker& asker : place.askers) place.left.insert(asker.port->session());
  if (router.refuted()) {
    catalog_.learn_era(*place.wanted, handshake.era());
    return tell_failed(place, router::Opened::Kind::Again, {});
  }
  if (!first) return;
  if (!router.objection().empty()) return refuse_version(place, router.objection());
  tell_failed(place, router::Opened::Kind::Refused, handshake.error());
}

void Switchboard::refuse_version(Place& place, const std::string& objection) {
  tell(slot_event(place, events::Kind::Refused, "version", objection));
  tell_failed(
      place, router::Opened::Kind::Refused,
      R"({"code":)" + std::to_string(wire::kServerLost) + R"(,"message":)" + wire::quoted(objection) + "}");
}

void Switchboard::tell_failed(Place& place, router::Opened::Kind kind, const std::string& text) {
  std::deque<Asker> askers = std::exchange(place.askers, {});
  for (const Asker& asker : askers) asker.port->opened({kind, nullptr, text});
}

void Switchboard::router_lost(router::Router& router, const router::LastWords& why) {
  Place& place = *place_of(router);
  const bool first = place.life == Life::Starting;
  const bool was_ready = place.life == Life::Ready || place.life == Life::Draining;
  place.use.cancel();
  place.drain.cancel();
  if (place.life == Life::Ready || place.life == Life::Restarting || first) place.last_words = why;
  if (!place.ending_since) place.ending_since = Clock::now();
  // A legacy server may well exit when it is spoken to in the modern way; not so one that we have ended.
  const bool by_itself = first || place.life == Life::Restarting;
  const bool not_modern =
      by_itself && router.instance()->handshake().outcome() == instance::Handshake::Outcome::NotModern;
  place.silent_probe = place.silent_probe || not_modern;
  if (first && !not_modern) {
    for (Asker& asker : place.askers) asker.failed = true;
  }
  if (place.life == Life::Ready || (by_itself && !not_modern)) tell(crashed_event(place, why.sentence));
  happen(place, Happening::Lost);
  if (was_ready) leave_sessions(place);
}

void Switchboard::router_hung(router::Router& router) {
  Place& place = *place_of(router);
  if (place.life == Life::Ready) place.cause = Cause::Hung;
  happen(place, Happening::Hung);
}

void Switchboard::router_ended(router::Router& router, const instance::Ending& ending) {
  Place& place = *place_of(router);
  place.use.cancel();
  place.drain.cancel();
  if (!ending.keeper_lost) return gone(place, ending);
  if (const pid_t child = instance::run_terminators_of(router.instance()->tree())) children_.started(child);
  // Its tree falls to us, and has ended when we have ended it. Until then the place stays taken.
  children_.end_orphans_of(router.instance()->keeper(), [this, &place, ending](bool proved) {
    instance::Ending now = ending;
    now.proved_empty = proved;
    gone(place, now);
  });
}

void Switchboard::gone(Place& place, const instance::Ending& ending) {
  router::Router& router = *place.router;
  const Clock::time_point now = Clock::now();
  const Gone gone{
      place.wanted->server,
      router.instance()->id(),
      router.instance()->server_pid(),
      place.cause,
      ending,
      std::chrono::duration_cast<std::chrono::milliseconds>(now - place.ending_since.value_or(now))};
  if (journal_ != nullptr && ending.proved_empty)
    journal_->ended(gone.instance.text(), cause_name(gone.cause));
  if (error_files_ != nullptr) error_files_->ended(gone.server, gone.instance.text());
  for (events::Event& event : ended_events(gone)) tell(std::move(event));
  if (!ending.proved_empty && !place.started_for.empty() && unproved_) unproved_(place.started_for, gone);
  place.last_exit_code = ending.exit_code;
  for (const router::SessionId session : router.session_ids()) {
    router::SessionPort* const port = router.port_of(session);
    if (port == nullptr) continue;  // it left when another one heard of it
    router.detach(*port);
    port->instance_ended(ending);
  }
  // We may be called from inside the router.
  ended_.push_back(std::move(place.router));
  loop_.post([this] { ended_.clear(); });
  for (const WhenGone& task : std::exchange(place.when_gone, {})) task(gone);
  died(place);
}

/// Also called for one that could not even be started.
void Switchboard::died(Place& place) {
  const bool by_itself = place.life == Life::Dying;
  std::optional<Clock::duration> again = Clock::duration::zero();
  if (by_itself) {
    const Clock::duration lived =
        place.ready_since ? Clock::now() - *place.ready_since : Clock::duration::zero();
    again = place.policy.died(lived, std::uniform_real_distribution<double>(0, 1)(random_));
    next_delay_ = again.value_or(Clock::duration::zero());
  }
  happen(place, again ? Happening::Gone : Happening::GoneTooOften);
}

void Switchboard::delay(Place& place) {
  if (place.askers.empty()) return happen(place, Happening::Unused);
  if (next_delay_.count() > 0) {
    log_line("server " + place.wanted->server + ": the next start is in " +
             std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(next_delay_).count()) +
             " ms");
  }
  place.delay.start(next_delay_, [this, &place] { happen(place, Happening::DelayOver); });
}

void Switchboard::refuse_askers(Place& place) {
  router::LastWords why = place.last_words;
  const bool broken = place.life == Life::Broken;
  if (broken) {
    const std::string often = "server " + place.wanted->server + " died " +
                              std::to_string(place.policy.deaths()) +
                              " times in a row and is not started again for now; `corral restart " +
                              place.wanted->server + "` tries at once. At last: ";
    why.sentence.insert(0, often);
    why.with_stderr.insert(0, often);
    if (!place.delay.running()) {
      tell(slot_event(place, events::Kind::Broken, "died-too-often", why.sentence));
      place.delay.start(place.policy.rules().rest, [this, &place] {
        place.policy.forgive();
        happen(place, Happening::Rested);
      });
    }
  }
  std::deque<Asker> refused;
  for (auto asker = place.askers.begin(); asker != place.askers.end();) {
    if (broken || asker->failed) {
      refused.push_back(std::move(*asker));
      asker = place.askers.erase(asker);
    } else {
      ++asker;
    }
  }
  for (const Asker& asker : refused) {
    asker.port->opened(
        {router::Opened::Kind::Failed, nullptr, why.to(asker.port->session()), place.last_exit_code});
  }
  if (!broken) revive(place);
}

// ---- ending

void Switchboard::drain(Place& place) {
  place.use.cancel();
  // One that is only too large may finish its work, however long that takes.
  const Clock::duration patience =
      place.cause == Cause::Recycled ? place.wanted->call_timeout : limits_.drain;
  place.drain.start(patience, [this, &place] { happen(place, Happening::Drained); });
  place.router->drain();
}

void Switchboard::router_drained(router::Router& router) {
  Place* const place = place_of(router);
  if (place == nullptr) return;  // it has ended meanwhile
  place->drain.cancel();
  happen(*place, Happening::Drained);
}

/// Every instance that we end comes through here.
void Switchboard::end(Place& place, Instance::Haste haste) {
  place.use.cancel();
  place.drain.cancel();
  place.ending_since = Clock::now();
  tell(stopping_event(place));
  leave_sessions(place);
  place.router->stop(haste);
}

/// The sessions go on without it, and whatever they wait for is answered.
void Switchboard::leave_sessions(Place& place) {
  const bool died = place.cause == Cause::Died;
  const router::LastWords why =
      died ? place.last_words
           : router::LastWords{"server " + place.wanted->server + " " + sentence_for(place.cause)};
  place.last_words = why;
  const bool failed = died || place.cause == Cause::Hung;
  place.router->take_back_questions();
  for (const router::SessionId session : place.router->session_ids()) {
    router::SessionPort* const port = place.router->port_of(session);
    if (port == nullptr) continue;  // it left when another one heard of it
    if (failed && (!place.wanted->restart || !port->goes_on())) continue;  // it ends with its server
    place.router->give_up_calls(*port, wire::kServerLost, why.to(session));
    place.router->detach(*port);
    place.left.insert(session);
    port->instance_left(departure_for(place.cause), why.to(session));
  }
}

void Switchboard::revive(Place& place) {
  if (!place.askers.empty()) return happen(place, Happening::Asked);
  // We may be called from somebody who still looks at the place.
  loop_.post([this, gone = &place] {
    places_.remove_if([gone](const Place& one) {
      return &one == gone && one.life == Life::Empty && !one.router && one.askers.empty();
    });
  });
}

// ---- how many there are

void Switchboard::keep_newest() {
  std::vector<Candidate> list;
  const std::vector<Place*> places = candidates(list, Spares::Kept);
  for (const std::size_t index : beyond_keep(list, limits_.keep)) {
    places[index]->cause = Cause::Evicted;
    happen(*places[index], Happening::Unused);
  }
}

std::vector<Place*> Switchboard::candidates(std::vector<Candidate>& list, Spares spares) {
  std::vector<Place*> places;
  for (Place& place : places_) {
    if (place.life != Life::Ready) continue;
    if (spares == Spares::Kept && !place.spare_for.empty()) continue;
    places.push_back(&place);
    list.push_back({place.wanted->server, place.router->last_used(), place.router->sessions().size(),
                    place.router->in_use(), may_park(place)});
  }
  return places;
}

bool Switchboard::may_park(const Place& place) {
  if (place.wanted->park) return *place.wanted->park;
  return catalog_.keeps_no_state(*place.wanted);
}

void Switchboard::watch_use(Place& place, Clock::duration after) {
  place.use.start(after, [this, &place] { look_at_use(place); });
}

void Switchboard::look_at_use(Place& place) {
  if (place.life != Life::Ready) return;
  const Clock::duration idle = place.wanted->idle;
  const Clock::duration unused = Clock::now() - place.router->last_used();
  const bool alone = place.router->sessions().empty();
  constexpr Clock::duration kNotSooner = std::chrono::seconds(1);
  if (alone && !place.stale.empty() && place.wanted->on_change == config::OnChange::Roll) {
    place.cause = Cause::Outdated;
    return happen(place, Happening::Unused);
  }
  const bool needed = place.router->in_use() || (!alone && !may_park(place));
  if (needed) return watch_use(place, std::max(idle, kNotSooner));
  if (unused < idle) return watch_use(place, idle - unused);
  place.cause = alone ? Cause::Idle : Cause::Parked;
  happen(place, Happening::Unused);
}

}  // namespace corral::pool
