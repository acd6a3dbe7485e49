#include "pool/capacity.h"

#include <algorithm>

#include "pool/server_catalog.h"
#include "pool/slots.h"

namespace corral::pool {
namespace {

std::string refusal_for(const ServerSpec& spec, const Quota& quota, const Use& use) {
  const std::string principal = spec.account == nullptr ? "user" : spec.account->principal();
  return "server " + spec.server + " cannot be started, because all instances are in use: " +
         over_quota(Good::Instances, quota, use, principal);
}

}  // namespace

bool may_park(const ServerSpec& spec, ServerCatalog& catalog) {
  return spec.entry.park ? *spec.entry.park : catalog.keeps_no_state(spec);
}

/// Instances that are ending do not count.
Use Capacity::used_with(const ServerSpec& spec) const {
  Use use{.of_user = is_users(spec)};
  for (const Slot& slot : slots_) {
    if (slot.router() == nullptr || is_ending(slot.life())) continue;
    ++use.all;
    if (!is_users(slot.spec())) ++use.tokens;
    if (slot.spec().account == spec.account) ++use.mine;
  }
  return use;
}

Capacity::Victims Capacity::victims(Spares spares) const {
  Victims found;
  for (Slot& slot : slots_) {
    if (slot.life() != Life::Ready) continue;
    if (spares == Spares::Kept && slot.holder().is_spare()) continue;
    const router::Router& router = *slot.router();
    const router::Router::Activity activity = router.activity();
    found.slots.push_back(&slot);
    found.candidates.push_back({slot.spec().server, activity.last_used, router.sessions().size(),
                                activity.in_use, may_park(slot.spec(), catalog_)});
  }
  return found;
}

/// The instances that may be ended for this one. A token that has used up its own part replaces its own
/// instances; tokens that have used up the part of all tokens replace instances of tokens.
Capacity::Victims Capacity::replaceable_for(const ServerSpec& spec) const {
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = used_with(spec);
  const auto helps = [&](const ServerSpec& other) {
    if (is_users(spec)) return true;
    if (use.mine >= quota.token) return other.account == spec.account;
    return use.tokens < quota.tokens || !is_users(other);
  };
  const Victims all = victims(Spares::Counted);
  Victims helpful;
  for (std::size_t i = 0; i < all.slots.size(); ++i) {
    if (!helps(all.slots[i]->spec())) continue;
    helpful.slots.push_back(all.slots[i]);
    helpful.candidates.push_back(all.candidates[i]);
  }
  return helpful;
}

Result<void> Capacity::make_room(const ServerSpec& spec) {
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = used_with(spec);
  if (within(quota, use)) return {};
  const Victims found = replaceable_for(spec);
  const auto least = least_needed(found.candidates);
  if (!least) return Error{refusal_for(spec, quota, use)};
  found.slots[*least]->end_unused(Cause::Evicted);
  return {};
}

std::string Capacity::why_no_room(const Ask& ask, std::size_t more) {
  const ServerSpec& spec = *ask.spec;
  const Quota quota = quota_of(limits_.max_instances);
  const Use use = used_with(spec);
  if (within(quota, use, more + 1)) return {};
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  const bool has_one = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    if (slot.router() == nullptr || is_ending(slot.life()) || slot.spec().key != spec.key) return false;
    return decision.shared ? slot.key() == spec.key : slot.holder().is_spare();
  });
  if (has_one) return {};
  const std::size_t free = quota.all - std::min(quota.all, use.all);
  const std::size_t freed = how_many_may_go(replaceable_for(spec).candidates);
  return free + freed > more ? "" : refusal_for(spec, quota, use);
}

bool Capacity::has_room_for_spare(const ServerSpec& spec) const {
  return slots_.living() < limits_.max_instances && within(quota_of(limits_.max_instances), used_with(spec));
}

void Capacity::keep_newest() {
  const Victims found = victims(Spares::Kept);
  for (const std::size_t index : beyond_keep(found.candidates, limits_.keep)) {
    found.slots[index]->end_unused(Cause::Evicted);
  }
}

}  // namespace corral::pool
