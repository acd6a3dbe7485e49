// Private instances that are started before anybody asks for them. Each is given to one session, and never
// comes back.
#include <algorithm>

#include "knowledge/profile.h"
#include "pool/switchboard.h"

namespace corral::pool {

using pool::Happening;
using pool::Life;

namespace {

/// Which sessions may have it: those to whom a server could not show the difference.
std::string spare_key(const Ask& ask) {
  // A modern server is told with every request who asks; what counts is what a legacy one heard.
  return ask.wanted->key + "\n" + knowledge::profile_of(knowledge::Era::Legacy, ask.initialize_params) +
         "\n" + knowledge::client_name(ask.initialize_params);
}

bool is_coming(const Place& place) { return place.life == Life::Ready || place.life == Life::Starting; }

}  // namespace

Place* Switchboard::spare_for(const router::SessionPort& port, const Ask& ask,
                              const knowledge::SharingDecision& decision) {
  if (decision.shared || ask.wanted->warm == 0) return nullptr;
  loop_.post([this, ask, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) refill(ask);
  });
  const std::string key = spare_key(ask);
  Place* best = nullptr;
  for (Place& place : places_) {
    if (place.spare_for != key || !is_coming(place)) continue;
    look_at_code(place);
    if (!is_coming(place)) continue;
    if (best == nullptr || (best->life != Life::Ready && place.life == Life::Ready)) best = &place;
  }
  if (best == nullptr) return nullptr;
  best->key = key_for(ask, decision, port.session());
  best->decision = decision;
  best->begun_early = true;
  best->spare_for.clear();
  best->introduction.clear();
  best->session = port.session();
  best->started_for = port.owner();
  return best;
}

void Switchboard::refill(const Ask& ask) {
  const std::string key = spare_key(ask);
  const auto count = [&] {
    return static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(), [&key](const Place& place) {
      return place.spare_for == key && is_coming(place);
    }));
  };
  // Nobody is sent away for one, also not by a token whose own part is used up.
  const auto room = [&] {
    const Quota quota = quota_of(limits_.max_instances);
    return !closing_ && living() < limits_.max_instances &&
           within(quota, instances_used(*ask.wanted), is_users(*ask.wanted));
  };
  for (std::size_t have = count(); room() && have < ask.wanted->warm; ++have) add_spare(ask, key);
}

void Switchboard::add_spare(const Ask& ask, const std::string& spare_for) {
  knowledge::SharingDecision decision = catalog_.decide(ask);
  if (decision.shared) return;
  if (ask.wanted->from_configuration && stopped_.contains(ask.wanted->server)) return;
  decision.reason = "private: kept ready for the next session";
  Place& place = places_.emplace_back(loop_, ask.wanted->key + "\nspare " + std::to_string(++spares_),
                                      ask.wanted, decision);
  place.policy = pool::RestartPolicy(limits_.restart);
  place.spare_for = spare_for;
  place.introduction = ask.initialize_params;
  happen(place, Happening::Asked);
}

}  // namespace corral::pool
