#include "pool/use_watch.h"

#include <algorithm>

#include "pool/capacity.h"
#include "pool/slot.h"

namespace corral::pool {

UseVerdict judge_use(const InstanceUse& use) {
  constexpr Clock::duration kNotSooner = std::chrono::seconds(1);
  constexpr Clock::duration kRarely = std::chrono::hours(1);
  if (!use.has_sessions && use.replaced) return {.end = Cause::Outdated};
  // Without an idle time it ends with its last session, whose end is noticed when it comes.
  if (use.has_sessions && use.idle == Clock::duration::zero()) return {.look_again = kRarely};
  if (use.in_use || (use.has_sessions && !use.may_park))
    return {.look_again = std::max(use.idle, kNotSooner)};
  if (use.unused < use.idle) return {.look_again = use.idle - use.unused};
  return {.end = use.has_sessions ? Cause::Parked : Cause::Idle};
}

void UseWatch::look_in(Clock::duration after) {
  timer_.start(after, [this] { look(); });
}

void UseWatch::look() {
  if (slot_.life() != Life::Ready) return;
  const ServerSpec& spec = slot_.spec();
  const router::Router& router = *slot_.router();
  const router::Router::Activity activity = router.activity();
  const bool has_sessions = !router.sessions().empty();
  const UseVerdict verdict =
      judge_use({.has_sessions = has_sessions,
                 .in_use = activity.in_use,
                 .may_park = has_sessions && !activity.in_use && may_park(spec, catalog_),
                 .replaced = !slot_.run().stale().empty() && spec.entry.on_change == config::OnChange::Roll,
                 .unused = Clock::now() - activity.last_used,
                 .idle = spec.entry.idle});
  if (!verdict.end) return look_in(verdict.look_again);
  slot_.end_unused(*verdict.end);
}

}  // namespace corral::pool
