// What instances teach, what is told from it without starting one, and when it is out of date.
#include <algorithm>

#include "pool/slot_events.h"
#include "pool/switchboard.h"

namespace corral::pool {

using pool::Happening;
using pool::Life;

namespace {

constexpr std::chrono::seconds kBetweenLooks{30};

Catalog::Source source_of(const Place& place) {
  return {*place.wanted, place.router->instance()->handshake(), place.router->options().shared};
}

}  // namespace

std::optional<Known> Switchboard::known(const Ask& ask) {
  const Wanted& wanted = *ask.wanted;
  if (wanted.eager || (wanted.from_configuration && stopped_.contains(wanted.server))) return std::nullopt;
  catalog_.forget_old_build(wanted);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  if (decision.shared) {
    const Place* const place = place_called(key_for(ask, decision, router::SessionId()));
    if (place != nullptr && (place->life == Life::Ready || place->life == Life::Broken)) return std::nullopt;
  }
  return catalog_.known(ask, decision);
}

// ---- learning

/// One of another build than the one that is known does not, also before anybody has found it out of date.
/// What is not open yet has no build, and is asked for what it shows.
bool Switchboard::teaches(const Place& place) {
  if (!place.ready_since) return true;
  return place.stale.empty() && catalog_.is_known_build(*place.wanted, place.build);
}

void Switchboard::learned_read_only(router::Router& router, bool read_only) {
  const Place& place = *place_of(router);
  if (teaches(place)) catalog_.learn_read_only(*place.wanted, router.options().shared, read_only);
}

void Switchboard::learned_conversational(router::Router& router) {
  catalog_.learn_conversational(*place_of(router)->wanted);
}

void Switchboard::learned_that_it_answers_probes(router::Router& router) {
  catalog_.learn_that_it_answers_probes(*place_of(router)->wanted);
}

void Switchboard::learned_list(router::Router& router, const router::SessionPort& port, router::ListKind kind,
                               std::string_view result) {
  const Place& place = *place_of(router);
  if (teaches(place)) catalog_.learn_list(source_of(place), port.introduction(), kind, result);
}

void Switchboard::learned_of_change(router::Router& router, router::ChangedList list) {
  const Place& place = *place_of(router);
  if (teaches(place)) catalog_.forget_list(*place.wanted, list);
}

/// Once it is open: which build it is, and what it answered.
void Switchboard::learn_build(Place& place) {
  place.build = build_of_(*place.router->instance());
  catalog_.learn_build(source_of(place), place.build);
  if (!code_.running()) code_.start(kBetweenLooks, [this] { look_at_code(); });
}

// ---- other code on disk

void Switchboard::look_at_code() {
  std::vector<Place*> places;  // one that goes may change the list
  for (Place& place : places_) places.push_back(&place);
  for (Place* const place : places) look_at_code(*place);
  if (living() > 0) code_.start(kBetweenLooks, [this] { look_at_code(); });
}

void Switchboard::look_at_code(Place& place) {
  if (place.life != Life::Ready || !place.stale.empty()) return;
  if (place.wanted->on_change == config::OnChange::Ignore) return;
  if (const auto changed = knowledge::what_changed(place.build)) take_out_of_use(place, *changed);
}

/// Those who are here finish on the old code; whoever comes next gets the new.
void Switchboard::take_out_of_use(Place& place, const std::string& changed) {
  place.stale = changed;
  const bool roll = place.wanted->on_change == config::OnChange::Roll;
  const std::string& instance = place.router->instance()->id().text();
  tell(slot_event(place, events::Kind::Stale, roll ? "roll" : "warn",
                  "instance " + instance.substr(0, 8) + " of server " + place.wanted->server +
                      " is out of date: " + changed +
                      (roll ? "; new sessions get a new one" : "; `corral restart` runs the new code")));
  catalog_.forget_old_build(*place.wanted);
  if (!roll) return;
  if (place.decision.shared) place.key += "\nbefore " + instance;
  if (!place.router->sessions().empty() || !place.askers.empty()) return;
  place.cause = Cause::Outdated;
  happen(place, Happening::Unused);
}

}  // namespace corral::pool
