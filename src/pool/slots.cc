#include "pool/slots.h"

#include <algorithm>
#include <utility>

namespace corral::pool {
namespace {

template <class List, class Condition>
Slot* first_of(List& list, Condition condition) {
  const auto found = std::find_if(list.begin(), list.end(), condition);
  return found == list.end() ? nullptr : &*found;
}

/// Whether the session is attached to the instance of this slot, or waits for one.
bool serves(const Slot& slot, SessionId session) {
  return slot.waiters().contains(session) ||
         (slot.router() != nullptr && slot.router()->sessions().contains(session));
}

}  // namespace

std::string slot_key(const Ask& ask, const knowledge::SharingDecision& decision, SessionId session) {
  return ask.spec->key + (decision.shared ? "" : "\n#" + to_string(session));
}

Slot& Slots::add(std::string key, std::shared_ptr<const ServerSpec> spec,
                 const knowledge::SharingDecision& decision, Holder holder) {
  return list_.emplace_back(ids_.next(), context_, std::move(key), std::move(spec), decision,
                            std::move(holder));
}

void Slots::remove_vacant(SlotId id) {
  list_.remove_if([id](const Slot& slot) { return slot.id() == id && slot.is_vacant(); });
}

Slot* Slots::find(SlotId id) {
  return first_of(list_, [id](const Slot& slot) { return slot.id() == id; });
}

Slot* Slots::find(std::string_view key) {
  return first_of(list_, [key](const Slot& slot) { return slot.key() == key; });
}

Slot* Slots::find_for(SessionId session) {
  if (Slot* const slot = first_of(list_, [session](const Slot& one) { return serves(one, session); }))
    return slot;
  return first_of(list_, [session](const Slot& one) {
    return one.holder().session() == session && one.router() != nullptr;
  });
}

Slot* Slots::awaited_by(SessionId session) {
  return first_of(list_, [session](const Slot& slot) { return slot.waiters().contains(session); });
}

Slot* Slots::lost_by(SessionId session, const Slot& except) {
  return first_of(list_, [session, &except](const Slot& slot) {
    return &slot != &except && is_ending(slot.life()) && slot.run().was_lost_by(session);
  });
}

std::size_t Slots::living() const {
  return static_cast<std::size_t>(
      std::count_if(list_.begin(), list_.end(), [](const Slot& slot) { return slot.router() != nullptr; }));
}

}  // namespace corral::pool
