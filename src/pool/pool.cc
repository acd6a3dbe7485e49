#include "pool/pool.h"

#include <algorithm>
#include <utility>

#include "pool/slot_events.h"

namespace corral::pool {

using router::Opened;
using router::SessionPort;

Pool::Pool(Loop& loop, proc::Spawner& spawner, std::size_t line_cap)
    : catalog_(loop),
      children_(loop),
      context_{.loop = loop,
               .spawner = spawner,
               .catalog = catalog_,
               .owner = *this,
               .children = children_,
               .line_cap = line_cap},
      slots_(context_),
      capacity_(slots_, catalog_, context_.limits),
      code_(loop, slots_),
      spares_({loop, slots_, catalog_, code_, capacity_, stopped_}) {}

Pool::~Pool() = default;

void Pool::write_to(const Records& records) {
  context_.events = records.events;
  context_.journal = records.journal;
  context_.error_files = records.error_files;
  catalog_.keep_in(records.manifests);
}

// ---- before a session needs an instance

std::optional<Known> Pool::known(const Ask& ask) {
  const ServerSpec& spec = *ask.spec;
  if (spec.entry.eager || is_stopped(spec, stopped_)) return std::nullopt;
  catalog_.forget_old_build(spec);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  if (decision.shared) {
    const Slot* const slot = slots_.find(slot_key(ask, decision, SessionId()));
    if (slot != nullptr && (slot->life() == Life::Ready || slot->life() == Life::Broken)) return std::nullopt;
  }
  return catalog_.known(ask, decision);
}

void Pool::answered_without_instance(const SessionPort& port, const ServerSpec& spec) const {
  context_.tell(answered_without_instance_event(port, spec));
}

void Pool::open(SessionPort& port, const Ask& ask) {
  const ServerSpec& spec = *ask.spec;
  if (is_stopped(spec, stopped_)) {
    return port.opened({Opened::Kind::Failed, nullptr,
                        "server " + spec.server + " was stopped with `corral stop`; `corral start " +
                            spec.server + "` allows it to start again"});
  }
  catalog_.forget_some([this](std::string_view key) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [key](const Slot& slot) { return slot.spec().key == key; });
  });
  catalog_.forget_old_build(spec);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  Slot& slot = slot_for(port, ask, decision);
  slot.add_waiter(port, ask.initialize_params);
  // The session's previous instance may hold a port or a lock: the new one starts when that one is gone.
  if (Slot* const before = slots_.lost_by(port.id(), slot)) {
    return before->when_ended(
        [this, id = slot.id(), session = port.id()](const InstanceEnd&) { ask_again(id, session); });
  }
  slot.apply(Trigger::Asked);
}

Slot& Pool::slot_for(const SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision) {
  const std::string key = slot_key(ask, decision, port.id());
  if (Slot* const running = slots_.find(key)) code_.look_at(*running);
  Slot* found = slots_.find(key);  // again: a slot that is out of date has another key now
  if (found == nullptr) found = spares_.give_to(port, ask, decision);
  if (found != nullptr) {
    found->redefine(ask.spec, decision);
    return *found;
  }
  return slots_.add(key, ask.spec, decision, decision.shared ? Holder() : Holder::of(port.id()));
}

/// By now the session may wait for another slot, or have left.
void Pool::ask_again(SlotId id, SessionId session) {
  Slot* const awaited = slots_.awaited_by(session);
  Slot* const slot = awaited != nullptr ? awaited : slots_.find(id);
  if (slot != nullptr) slot->resume();
}

// ---- sessions that leave

bool Pool::release(SessionPort& port, Haste haste, WhenEnded when_ended, Ends ends) {
  Slot* const slot = slots_.find_for(port.id());
  if (slot == nullptr) return false;
  const Slot::Left left = slot->leave(port, ends, haste, std::move(when_ended));
  if (left == Slot::Left::Stays) capacity_.keep_newest();
  return left == Slot::Left::Ends;
}

void Pool::hasten(SessionId session) {
  for (Slot& slot : slots_) {
    // A private instance of an earlier definition may still be ending, too.
    const bool earlier = slot.holder().session() == session && is_ending(slot.life());
    if (slot.run().ends_with() == session || earlier) slot.hasten(Haste::ClientGone);
  }
}

std::size_t Pool::end_all_of(const std::string& owner, const WhenEnded& when_ended) {
  std::size_t count = 0;
  for (Slot& slot : slots_) {
    if (slot.holder().object() != owner || slot.router() == nullptr) continue;
    if (slot.end_with_owner(when_ended)) ++count;
  }
  return count;
}

void Pool::hasten_all_of(const std::string& owner) {
  for (Slot& slot : slots_) {
    if (slot.holder().object() == owner && is_ending(slot.life())) slot.hasten(Haste::ClientGone);
  }
}

void Pool::stop_all(Haste haste) {
  spares_.close();
  catalog_.save();
  for (Slot& slot : slots_) slot.stop(haste);
}

std::vector<InstanceId> Pool::with_calls() const {
  std::vector<InstanceId> busy;
  for (const Slot& slot : slots_) {
    if (slot.router() != nullptr && slot.router()->activity().calls > 0)
      busy.push_back(slot.router()->instance()->id());
  }
  return busy;
}

void Pool::kill(const InstanceId& instance) {
  for (Slot& slot : slots_) {
    if (slot.router() != nullptr && slot.router()->instance()->id() == instance) slot.hasten(Haste::Now);
  }
}

// ---- clients that nobody is attached to

UnattendedVerdict Pool::judge_unattended(const Slot& slot, Clock::duration unattended,
                                         const UnattendedRule& rule) {
  const router::Router::Activity activity = slot.router()->activity();
  return pool::judge_unattended({.in_use = activity.in_use,
                                 .keeps_no_state = may_park(slot.spec(), catalog_),
                                 .unused = Clock::now() - activity.last_used,
                                 .unattended = unattended},
                                rule);
}

void Pool::park(const InstanceId& instance) {
  for (Slot& slot : slots_) {
    if (slot.life() != Life::Ready || slot.router()->instance()->id() != instance) continue;
    return slot.end_unused(Cause::Parked);
  }
}

// ---- at the user's request

std::size_t Pool::retire(const std::string& server, Cause cause, const AllEnded& done) {
  if (cause == Cause::Stopped) stopped_.insert(server);
  std::vector<SlotId> slots;  // a copy: sessions that ask again may add slots
  for (const Slot& slot : slots_) {
    // A reload changes what is configured, never a command that a client brought along.
    const bool concerned = cause != Cause::Reloaded || slot.spec().from_configuration;
    if (concerned && slot.spec().server == server) slots.push_back(slot.id());
  }
  struct Progress {
    std::vector<InstanceEnd> ends;
    std::optional<std::size_t> expected;  // set when all slots have been told
  };
  const auto progress = std::make_shared<Progress>();
  const WhenEnded one_ended = [progress, done](const InstanceEnd& ended) {
    progress->ends.push_back(ended);
    if (progress->ends.size() == progress->expected) done(progress->ends);
  };
  std::size_t count = 0;
  for (const SlotId id : slots) {
    Slot* const slot = slots_.find(id);
    if (slot != nullptr && slot->retire(cause, one_ended)) ++count;
  }
  progress->expected = count;
  if (progress->ends.size() == count) done(progress->ends);
  return count;
}

bool Pool::allow(const std::string& server) {
  bool any = stopped_.erase(server) > 0;
  for (Slot& slot : slots_) {
    if (slot.spec().server == server) any = slot.allow() || any;
  }
  return any;
}

void Pool::recycle(const InstanceId& instance, const std::string& why) {
  for (Slot& slot : slots_) {
    if (slot.life() == Life::Ready && slot.router()->instance()->id() == instance) {
      context_.tell(slot_event(slot, events::Kind::Finding, "memory", why));
      slot.retire(Cause::Recycled, {});
      return;
    }
  }
}

// ---- what the slots ask for

void Pool::slot_unused(SlotId id) {
  context_.loop.post(lifetime_.guard([this, id] { slots_.remove_vacant(id); }));
}

void Pool::dispose(std::unique_ptr<router::Router> router) {
  ended_.push_back(std::move(router));
  context_.loop.post(lifetime_.guard([this] { ended_.clear(); }));
}

void Pool::ended_unproved(const std::string& owner, const InstanceEnd& ended) {
  if (unproved_) unproved_(owner, ended);
}

}  // namespace corral::pool
