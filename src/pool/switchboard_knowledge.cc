// What instances teach, what is told from it without starting one, and when it is out of date.
#include <algorithm>

#include "base/log.h"
#include "knowledge/profile.h"
#include "knowledge/server_version.h"
#include "pool/switchboard.h"

namespace corral::pool {

using knowledge::Era;
using pool::Happening;
using pool::Life;

namespace {

constexpr std::chrono::seconds kBetweenLooks{30};
constexpr std::chrono::milliseconds kBeforeSaving{100};

/// A shared legacy server was told of no client.
std::string profile_for(Era era, bool shared, std::string_view introduction) {
  const bool plain = shared && era == Era::Legacy;
  return knowledge::profile_of(era, plain ? instance::plain_initialize_params() : introduction);
}

}  // namespace

// ---- knowing

Switchboard::Knowledge& Switchboard::knowledge_of(const Wanted& wanted) {
  const auto found = knowledge_.find(wanted.key);
  if (found != knowledge_.end()) return found->second;
  Knowledge& known = knowledge_[wanted.key];
  known.server = wanted.server;
  if (store_ != nullptr) known.manifest = store_->load(wanted.key);
  return known;
}

std::optional<Era> Switchboard::era_of(const Wanted& wanted) {
  if (wanted.era) return wanted.era;
  const std::optional<bool> modern = knowledge_of(wanted).manifest.modern;
  if (!modern) return std::nullopt;
  return *modern ? Era::Modern : Era::Legacy;
}

/// What another build has shown says nothing of this one.
void Switchboard::forget_old_build(const Wanted& wanted, Knowledge& known) {
  if (wanted.on_change == config::OnChange::Ignore) return;
  const auto changed = knowledge::what_changed(known.manifest.fingerprint);
  if (!changed) return;
  log_line("server " + wanted.server + ": " + *changed + "; what was known of it is learned anew");
  known.manifest = {};
  known.refuted = false;
}

std::optional<Known> Switchboard::known(const Ask& ask) {
  const Wanted& wanted = *ask.wanted;
  if (wanted.eager || (wanted.from_configuration && stopped_.contains(wanted.server))) return std::nullopt;
  Knowledge& known = knowledge_of(wanted);
  forget_old_build(wanted, known);
  const auto era = era_of(wanted);
  // Without its fingerprint nobody could tell that it is out of date.
  if (!era || known.manifest.fingerprint.files.empty()) return std::nullopt;
  const knowledge::SharingDecision decision = decide(ask);
  if (decision.shared) {
    const Place* const place = place_called(key_for(ask, decision, router::SessionId()));
    if (place != nullptr && (place->life == Life::Ready || place->life == Life::Broken)) return std::nullopt;
  }
  const auto found = known.manifest.portraits.find(profile_for(*era, decision.shared, ask.initialize_params));
  if (found == known.manifest.portraits.end() || found->second.handshake.empty()) return std::nullopt;
  // Whoever is told of an old server should hear at once that it is refused.
  if (!knowledge::objection_to_version(wanted.server, found->second.handshake, wanted.min_version).empty())
    return std::nullopt;
  return Known{*era, decision.shared, &found->second};
}

std::string_view Switchboard::known_tools(const Ask& ask) {
  const auto era = era_of(*ask.wanted);
  if (!era) return {};
  const auto& portraits = knowledge_of(*ask.wanted).manifest.portraits;
  const auto found = portraits.find(profile_for(*era, decide(ask).shared, ask.initialize_params));
  if (found == portraits.end()) return {};
  return found->second.lists[static_cast<std::size_t>(router::ListKind::Tools)];
}

// ---- learning

/// One of another build than the one that is known does not, also before anybody has found it out of date.
/// What is not open yet has no build, and is asked for what it shows.
bool Switchboard::teaches(const Place& place) {
  if (!place.ready_since) return true;
  return place.stale.empty() && place.build == knowledge_of(*place.wanted).manifest.fingerprint;
}

void Switchboard::learned(const std::string& key) {
  if (store_ == nullptr) return;
  unsaved_.insert(key);
  if (!saving_.running()) saving_.start(kBeforeSaving, [this] { save_learned(); });
}

void Switchboard::save_learned() {
  for (const std::string& key : std::exchange(unsaved_, {})) {
    const auto found = knowledge_.find(key);
    if (found != knowledge_.end()) store_->save(key, found->second.server, found->second.manifest);
  }
}

void Switchboard::learned_read_only(router::Router& router, bool read_only) {
  const Place& place = *place_of(router);
  if (!teaches(place)) return;
  const Wanted& wanted = *place.wanted;
  Knowledge& known = knowledge_of(wanted);
  // What a shared instance shows is what counts; a private one may show fewer tools.
  if (router.options().shared && !read_only) known.refuted = true;
  known.manifest.read_only = read_only && !known.refuted;
  learned(wanted.key);
}

void Switchboard::learned_conversational(router::Router& router) {
  const Wanted& wanted = *place_of(router)->wanted;
  if (std::exchange(knowledge_of(wanted).manifest.conversational, true)) return;
  learned(wanted.key);
  log_line("server " + router.options().server +
           " asked a client something on a shared instance and was refused; new sessions get their own");
}

void Switchboard::learned_that_it_answers_probes(router::Router& router) {
  const Wanted& wanted = *place_of(router)->wanted;
  knowledge_of(wanted).manifest.answers_probes = true;
  learned(wanted.key);
}

knowledge::Portrait& Switchboard::portrait_of(const router::Router& router, std::string_view introduction) {
  const instance::Handshake& handshake = router.instance()->handshake();
  const std::string profile = profile_for(handshake.era(), router.options().shared, introduction);
  auto& portraits = knowledge_of(*place_of(router)->wanted).manifest.portraits;
  // Clients choose what they say of themselves: no more is kept than a file takes.
  if (!portraits.contains(profile) && portraits.size() >= knowledge::kMostPortraits) {
    portraits.erase(portraits.begin());
  }
  knowledge::Portrait& portrait = portraits[profile];
  portrait.handshake = handshake.result();
  return portrait;
}

void Switchboard::learned_list(router::Router& router, const router::SessionPort& port, router::ListKind kind,
                               std::string_view result) {
  const Place& place = *place_of(router);
  if (!teaches(place)) return;
  std::string& list = portrait_of(router, port.introduction()).lists[static_cast<std::size_t>(kind)];
  if (list == result) return;
  list = result.size() <= knowledge::kLargestPortrait ? result : "";
  learned(place.wanted->key);
}

void Switchboard::learned_of_change(router::Router& router, router::ChangedList list) {
  const Place& place = *place_of(router);
  if (!teaches(place)) return;
  for (auto& [profile, portrait] : knowledge_of(*place.wanted).manifest.portraits) {
    const auto forget = [&lists = portrait.lists](router::ListKind kind) {
      lists[static_cast<std::size_t>(kind)].clear();
    };
    switch (list) {
      case router::ChangedList::Tools: forget(router::ListKind::Tools); break;
      case router::ChangedList::Prompts: forget(router::ListKind::Prompts); break;
      case router::ChangedList::Resources:
        forget(router::ListKind::Resources);
        forget(router::ListKind::Templates);
        break;
    }
  }
  learned(place.wanted->key);
}

/// Once it is open: which build it is, and what it answered.
void Switchboard::learn_build(Place& place) {
  const instance::Instance& instance = *place.router->instance();
  place.build = build_of_(instance);
  Knowledge& known = knowledge_of(*place.wanted);
  if (!(known.manifest.fingerprint == place.build)) {
    if (!known.manifest.fingerprint.files.empty()) known.manifest.portraits.clear();
    known.manifest.fingerprint = place.build;
  }
  learn_era(place, instance.handshake().era());
  portrait_of(*place.router, instance.handshake().initialize_params());
  learned(place.wanted->key);
  if (!code_.running()) code_.start(kBetweenLooks, [this] { look_at_code(); });
}

/// What it showed in the other era says nothing of this one.
void Switchboard::learn_era(const Place& place, Era era) {
  knowledge::Manifest& manifest = knowledge_of(*place.wanted).manifest;
  const bool modern = era == Era::Modern;
  if (manifest.modern == modern) return;
  manifest.portraits.clear();
  manifest.modern = modern;
  learned(place.wanted->key);
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
  tell_of(place, events::Kind::Stale, roll ? "roll" : "warn",
          "instance " + instance.substr(0, 8) + " of server " + place.wanted->server + " is out of date: " +
              changed + (roll ? "; new sessions get a new one" : "; `corral restart` runs the new code"));
  forget_old_build(*place.wanted, knowledge_of(*place.wanted));
  if (!roll) return;
  if (place.decision.shared) place.key += "\nbefore " + instance;
  if (!place.router->sessions().empty() || !place.askers.empty()) return;
  place.cause = Cause::Outdated;
  happen(place, Happening::Unused);
}

}  // namespace corral::pool
