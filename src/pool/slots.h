// All slots of a pool, in the order in which they were added. Slots are added at any time, also while
// somebody goes through them (who then meets the new ones too), and removed only by `remove_vacant`, which
// the pool calls from a task of its own.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "pool/slot.h"

namespace corral::pool {

/// By which key the session finds its slot: that of the server if it may share one, otherwise its own.
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
  /// Destroys the slot, unless it is in use again or gone already. Call it from the loop, not from a slot.
  void remove_vacant(SlotId id);

  // Each is null if there is none.
  Slot* find(SlotId id);
  Slot* find(std::string_view key);
  /// Where the session is attached, or waits; otherwise where its own last instance is still on its way out.
  Slot* find_for(SessionId session);
  Slot* awaited_by(SessionId session);
  /// Whose instance is on its way out, and was this session's.
  Slot* left_by(SessionId session, const Slot& except);

  /// How many have an instance, also one that is on its way out.
  std::size_t living() const;

 private:
  SlotContext& context_;
  IdSource<SlotId> ids_;
  std::list<Slot> list_;
};

}  // namespace corral::pool
