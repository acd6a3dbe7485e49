// What the slots of one pool share: how they start and record instances, and the limits for all of them.
// Owned by the pool; it outlives every slot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "base/id.h"
#include "base/loop.h"
#include "base/unique_id.h"
#include "events/stream.h"
#include "instance/children.h"
#include "instance/error_file.h"
#include "instance/journal.h"
#include "knowledge/fingerprint.h"
#include "pool/instance_end.h"
#include "pool/restart_policy.h"
#include "pool/server_spec.h"
#include "proc/spawner.h"

namespace corral::router {
class Router;
}

namespace corral::pool {

class ServerCatalog;
class Slot;

/// A slot may be destroyed in the next turn of the loop: remember its id, not its address.
using SlotId = Id<struct SlotTag>;

struct Limits {
  std::size_t max_instances = 256;
  std::size_t keep = 9;  // idle instances of one server
  Clock::duration drain = std::chrono::seconds(5);
  RestartRules restart{};
};

/// What a slot asks of its pool, which implements it. Called on the loop's thread, never for a message.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;

  /// Called before an instance is started. May end the instance of another slot. The error is a sentence for
  /// the sessions that wait.
  virtual Result<void> make_room(const ServerSpec& spec) = 0;
  /// The instance is open: watches its files from now on, and returns what they are now.
  virtual knowledge::Fingerprint watch_code(const instance::Instance& instance) = 0;
  /// Null if it has been destroyed.
  virtual Slot* find(SlotId id) = 0;
  /// Nobody needs the slot. It is destroyed in a later turn, unless it is in use again by then.
  virtual void slot_unused(SlotId id) = 0;
  /// The process tree of this router is gone. Destroys the router in a later turn, because the caller may be
  /// called by it.
  virtual void dispose(std::unique_ptr<router::Router> router) = 0;
  /// An instance of this session object has ended without proof that its tree is gone.
  virtual void ended_unproved(const std::string& owner, const InstanceEnd& ended) = 0;
};

struct SlotContext {
  Loop& loop;
  proc::Spawner& spawner;
  ServerCatalog& catalog;
  SlotOwner& owner;
  instance::Children& children;
  std::size_t line_cap;  // for instances that are started from now on
  Limits limits{};
  events::Stream* events = nullptr;
  instance::Journal* journal = nullptr;
  instance::ErrorFiles* error_files = nullptr;
  std::minstd_rand random{random_number()};
  std::uint64_t started = 0;  // number of instances since the daemon started

  void tell(events::Event event) const {
    if (events != nullptr) events->tell(std::move(event));
  }
};

}  // namespace corral::pool
