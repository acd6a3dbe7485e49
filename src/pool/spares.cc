#include "pool/spares.h"

#include <algorithm>

#include "knowledge/introduction.h"
#include "pool/capacity.h"
#include "pool/code_watch.h"
#include "pool/server_catalog.h"
#include "pool/slots.h"

namespace corral::pool {
namespace {

/// Describes the sessions that may get the spare: those that the server could not tell apart.
std::string spare_key(const Ask& ask) {
  // A modern server gets the facts of its client with every request; only a legacy handshake is bound to
  // them.
  return ask.spec->key + "\n" + knowledge::profile_of(knowledge::Era::Legacy, ask.initialize_params) + "\n" +
         knowledge::client_name(ask.initialize_params);
}

bool is_coming(const Slot& slot) { return slot.life() == Life::Ready || slot.life() == Life::Starting; }

}  // namespace

Slot* Spares::give_to(const router::SessionPort& port, const Ask& ask,
                      const knowledge::SharingDecision& decision) {
  if (decision.shared || ask.spec->entry.warm == 0) return nullptr;
  parts_.loop.post(lifetime_.guard([this, ask] { refill(ask); }));
  const std::string key = spare_key(ask);
  Slot* best = nullptr;
  for (Slot& slot : parts_.slots) {
    if (slot.holder().spare_for() != key || !is_coming(slot)) continue;
    parts_.code.look_at(slot);
    if (!is_coming(slot)) continue;
    if (best == nullptr || (best->life() != Life::Ready && slot.life() == Life::Ready)) best = &slot;
  }
  if (best != nullptr) best->give_to(port, slot_key(ask, decision, port.id()), decision);
  return best;
}

void Spares::refill(const Ask& ask) {
  const std::string key = spare_key(ask);
  auto have = static_cast<std::size_t>(std::count_if(
      parts_.slots.begin(), parts_.slots.end(),
      [&key](const Slot& slot) { return slot.holder().spare_for() == key && is_coming(slot); }));
  for (; have < ask.spec->entry.warm; ++have) {
    if (closed_ || !parts_.capacity.has_room_for_spare(*ask.spec)) return;
    add(ask, key);
  }
}

void Spares::add(const Ask& ask, const std::string& for_whom) {
  knowledge::SharingDecision decision = parts_.catalog.decide(ask);
  if (decision.shared || is_stopped(*ask.spec, parts_.stopped)) return;
  decision.reason = knowledge::reason_for(knowledge::Sharing::Private, "kept ready for the next session");
  Slot& slot = parts_.slots.add(ask.spec->key + "\nspare " + std::to_string(++begun_), ask.spec, decision,
                                Holder::spare(for_whom, ask.initialize_params));
  slot.apply(Trigger::Asked);
}

}  // namespace corral::pool
