// All slots of a pool, in the order in which they were added. A slot may be added while a caller iterates
// over them; the iteration then reaches it too. Only `remove_vacant` destroys slots, and the pool calls it
// from a task of its own, so that slots stay valid during a turn of the loop.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "pool/slot.h"

namespace corral::pool {

/// The key by which a session finds its slot: the key of the server if it may share, otherwise one of its
/// own.
std::string slot_key(const Ask& ask, const knowledge::SharingDecision& decision, SessionId session);

class Slots {
 public:
  /// `context` outlives it.
  explicit Slots(SlotContext& context) : context_(context) {}

  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  const Slot& front() const { return list_.front(); }
  const Slot& back() const { return list_.back(); }

  Slot& add(std::string key, std::shared_ptr<const ServerSpec> spec,
            const knowledge::SharingDecision& decision, Holder holder = {});
  /// Destroys the slot, unless it is in use again. Call it from a task of the loop, never from a slot.
  void remove_vacant(SlotId id);

  // Each of these returns null if there is none.
  Slot* find(SlotId id);
  Slot* find(std::string_view key);
  /// The slot where the session is attached or waits; otherwise the one where its private instance is ending.
  Slot* find_for(SessionId session);
  Slot* awaited_by(SessionId session);
  /// A slot whose instance this session has lost, and which is still ending.
  Slot* lost_by(SessionId session, const Slot& except);

  /// How many slots have an instance, including those that are ending.
  std::size_t living() const;

 private:
  SlotContext& context_;
  IdSource<SlotId> ids_;
  std::list<Slot> list_;
};

}  // namespace corral::pool
