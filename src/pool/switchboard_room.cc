// How many instances there may be, and for whom: base/shares.h has the rule.
#include <algorithm>

#include "pool/switchboard.h"

namespace corral::pool {
namespace {

std::string refusal_for(const Wanted& wanted, const Quota& quota, const Use& use) {
  const std::string principal = wanted.account == nullptr ? "user" : wanted.account->principal();
  return "server " + wanted.server + " cannot be started, because all instances are in use: " +
         over_quota(Good::Instances, quota, use, principal);
}

}  // namespace

/// Without those that are on their way out.
Use Switchboard::instances_used(const Wanted& wanted) const {
  Use use;
  for (const Place& place : places_) {
    if (!place.router || goes(place)) continue;
    ++use.all;
    if (!is_users(*place.wanted)) ++use.tokens;
    if (place.wanted->account == wanted.account) ++use.mine;
  }
  return use;
}

/// Those that may go for its sake: whoever is beyond its own part makes room among its own instances, and
/// tokens among those of tokens.
std::vector<Place*> Switchboard::replaceable_for(const Wanted& wanted, std::vector<Candidate>& list) {
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = instances_used(wanted);
  const std::vector<Place*> places = candidates(list, Spares::Counted);
  const auto helps = [&](const Place& place) {
    if (is_users(wanted)) return true;
    if (use.mine >= quota.token) return place.wanted->account == wanted.account;
    return use.tokens < quota.tokens || !is_users(*place.wanted);
  };
  std::vector<Place*> helpful;
  std::vector<Candidate> kept;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!helps(*places[i])) continue;
    helpful.push_back(places[i]);
    kept.push_back(list[i]);
  }
  list = std::move(kept);
  return helpful;
}

Result<void> Switchboard::make_room(const Wanted& wanted) {
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = instances_used(wanted);
  if (within(quota, use, is_users(wanted))) return {};
  std::vector<Candidate> list;
  const std::vector<Place*> places = replaceable_for(wanted, list);
  const auto least = least_needed(list);
  if (!least) return Error{refusal_for(wanted, quota, use)};
  Place& victim = *places[*least];
  victim.cause = Cause::Evicted;
  happen(victim, pool::Happening::Unused);
  return {};
}

std::string Switchboard::why_no_room(const Ask& ask, std::size_t more) {
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = instances_used(*ask.wanted);
  if (within(quota, use, is_users(*ask.wanted), more + 1)) return {};
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  const bool has_one = std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    if (!place.router || goes(place) || place.wanted->key != ask.wanted->key) return false;
    return decision.shared ? place.key == ask.wanted->key : !place.spare_for.empty();
  });
  if (has_one) return {};
  std::vector<Candidate> list;
  replaceable_for(*ask.wanted, list);
  const std::size_t free = quota.all - std::min(quota.all, use.all);
  return free + how_many_may_go(list) > more ? "" : refusal_for(*ask.wanted, quota, use);
}

}  // namespace corral::pool
