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

// ---- asking

std::optional<Known> Pool::known(const Ask& ask) {
  const ServerSpec& spec = *ask.spec;
  if (spec.eager || is_stopped(spec, stopped_)) return std::nullopt;
  catalog_.forget_old_build(spec);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  if (decision.shared) {
    const Slot* const slot = slots_.find(slot_key(ask, decision, SessionId()));
    if (slot != nullptr && (slot->life() == Life::Ready || slot->life() == Life::Broken)) return std::nullopt;
  }
  return catalog_.known(ask, decision);
}

void Pool::answered_without_instance(const SessionPort& port, const ServerSpec& spec) const {
  if (context_.events != nullptr) context_.events->tell(answered_without_instance_event(port, spec));
}

void Pool::open(SessionPort& port, const Ask& ask) {
  const ServerSpec& spec = *ask.spec;
  if (is_stopped(spec, stopped_)) {
    return port.opened({Opened::Kind::Failed, nullptr,
                        "server " + spec.server + " was stopped with `corral stop`; `corral start " +
                            spec.server + "` allows it again"});
  }
  catalog_.forget_some([this](std::string_view key) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [key](const Slot& slot) { return slot.spec().key == key; });
  });
  catalog_.forget_old_build(spec);
  const knowledge::SharingDecision decision = catalog_.decide(ask);
  // Once for each server: why it is private, and how to change that.
  if (!decision.shared && !decision.hint.empty() && catalog_.hint_once(spec))
    port.note(decision.reason + "; " + decision.hint);
  Slot& slot = slot_for(port, ask, decision);
  slot.add_waiter(port, ask.initialize_params);
  // A server may hold a port or a lock: what takes its place under another definition waits for its end.
  if (Slot* const before = slots_.left_by(port.id(), slot)) {
    return before->when_gone(
        [this, id = slot.id(), session = port.id()](const InstanceEnd&) { ask_again(id, session); });
  }
  slot.apply(Trigger::Asked);
}

Slot& Pool::slot_for(const SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision) {
  const std::string key = slot_key(ask, decision, port.id());
  if (Slot* const running = slots_.find(key)) code_.look_at(*running);
  Slot* found = slots_.find(key);  // one that is out of date has another key by now
  if (found == nullptr) found = spares_.give_to(port, ask, decision);
  if (found != nullptr) {
    found->redefine(ask.spec, decision);
    return *found;
  }
  Slot& slot = slots_.add(key, ask.spec, decision);
  if (!decision.shared) slot.reserve_for(port.id());
  return slot;
}

/// The session may wait elsewhere by now, or have left.
void Pool::ask_again(SlotId id, SessionId session) {
  Slot* const awaited = slots_.awaited_by(session);
  Slot* const slot = awaited != nullptr ? awaited : slots_.find(id);
  if (slot != nullptr) slot->resume();
}

// ---- letting go

bool Pool::release(SessionPort& port, Haste haste, WhenGone when_gone, bool with_owner) {
  const SessionId session = port.id();
  Slot* const slot = slots_.find_for(session);
  if (slot == nullptr) return false;
  if (slot->leave(port, with_owner)) {
    capacity_.keep_newest();
    return false;
  }
  for (Slot& other : slots_) {  // of an earlier definition, on its way out
    if (&other != slot) other.note_end_of(session);
  }
  return slot->end_with(session, haste, std::move(when_gone));
}

void Pool::hasten(SessionId session) {
  for (Slot& slot : slots_) {
    if (slot.left_by() == session) slot.hasten(Haste::ClientGone);
  }
}

std::size_t Pool::end_all_of(const std::string& owner, const WhenGone& when_gone) {
  std::size_t count = 0;
  for (Slot& slot : slots_) {
    if (slot.started_for() != owner || slot.router() == nullptr) continue;
    if (slot.end_with_owner(when_gone)) ++count;
  }
  return count;
}

void Pool::hasten_all_of(const std::string& owner) {
  for (Slot& slot : slots_) {
    if (slot.started_for() == owner && slot.is_ending()) slot.hasten(Haste::ClientGone);
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

// ---- on the user's word

std::size_t Pool::retire(const std::string& server, Cause cause, const AllGone& done) {
  if (cause == Cause::Stopped) stopped_.insert(server);
  std::vector<Slot*> slots;  // those that are there now: sessions that ask again may add to the list
  for (Slot& slot : slots_) {
    if (is_configured_as(slot.spec(), server)) slots.push_back(&slot);
  }
  const auto running = static_cast<std::size_t>(
      std::count_if(slots.begin(), slots.end(), [](const Slot* slot) { return slot->router() != nullptr; }));
  if (running == 0) done({});
  const auto report = std::make_shared<std::vector<InstanceEnd>>();
  const WhenGone one_gone = [report, running, done](const InstanceEnd& gone) {
    report->push_back(gone);
    if (report->size() == running) done(*report);
  };
  for (Slot* const slot : slots) slot->retire(cause, one_gone);
  return running;
}

bool Pool::allow(const std::string& server) {
  bool any = stopped_.erase(server) > 0;
  for (Slot& slot : slots_) {
    if (is_configured_as(slot.spec(), server)) any = slot.allow() || any;
  }
  return any;
}

void Pool::recycle(const InstanceId& instance, const std::string& why) {
  for (Slot& slot : slots_) {
    if (slot.life() == Life::Ready && slot.router()->instance()->id() == instance) return slot.recycle(why);
  }
}

// ---- for the slots

void Pool::slot_unused(SlotId id) {
  context_.loop.post(lifetime_.guard([this, id] { slots_.remove_vacant(id); }));
}

void Pool::dispose(std::unique_ptr<router::Router> router) {
  ended_.push_back(std::move(router));
  context_.loop.post(lifetime_.guard([this] { ended_.clear(); }));
}

void Pool::ended_unproved(const std::string& owner, const InstanceEnd& gone) {
  if (unproved_) unproved_(owner, gone);
}

}  // namespace corral::pool
