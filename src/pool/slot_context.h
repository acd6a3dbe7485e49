// What the slots of one pool share: where instances are started, written down and told of, and the limits
// that hold for all of them. The pool fills it in and owns it; it outlives every slot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "base/id.h"
#include "base/loop.h"
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

/// A slot may be gone in the next turn of the loop: remember its id for longer than that, not its address.
using SlotId = Id<struct SlotTag>;

struct Limits {
  std::size_t max_instances = 256;
  std::size_t keep = 9;  // idle ones of one server
  Clock::duration drain = std::chrono::seconds(5);
  RestartRules restart{};
};

/// What a slot asks of its pool. None of it is called for a message.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;

  /// Called before an instance is started. May end another slot's instance; never the caller's, which has
  /// none. An error is the sentence for the sessions that wait.
  virtual Result<void> make_room(const ServerSpec& spec) = 0;
  /// The instance is open: from now on its files are watched. Returns what they are now.
  virtual knowledge::Fingerprint watch_code(const instance::Instance& instance) = 0;
  /// Null if it is gone.
  virtual Slot* find(SlotId id) = 0;
  /// Nobody needs the slot. It is destroyed in a later turn, unless somebody needs it again by then.
  virtual void slot_unused(SlotId id) = 0;
  /// The tree of this router is gone. Destroys it in a later turn: the caller may be inside it.
  virtual void dispose(std::unique_ptr<router::Router> router) = 0;
  /// An instance that was started for this session object has ended without proof.
  virtual void ended_unproved(const std::string& owner, const InstanceEnd& gone) = 0;
};

struct SlotContext {
  Loop& loop;
  proc::Spawner& spawner;
  ServerCatalog& catalog;
  SlotOwner& owner;
  instance::Children& children;
  std::size_t line_cap;  // of the instances that are started from now on
  Limits limits{};
  events::Stream* events = nullptr;
  instance::Journal* journal = nullptr;
  instance::ErrorFiles* error_files = nullptr;
  std::minstd_rand random{std::random_device()()};
  std::uint64_t started = 0;  // instances, ever

  void tell(events::Event event) const {
    if (events != nullptr) events->tell(std::move(event));
  }
};

}  // namespace corral::pool
