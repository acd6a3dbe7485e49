// Gives each session an instance: finds one that it may share, or starts one. Owns the slots, which hold the
// instances, and limits their number.
//
// Called on the loop's thread by sessions and by the daemon. Most functions tell sessions something before
// they return, and a session may call the pool from there: open, release, or end. A slot is destroyed in a
// later turn of the loop than the one in which it was last used.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "pool/capacity.h"
#include "pool/code_watch.h"
#include "pool/server_catalog.h"
#include "pool/slots.h"
#include "pool/spares.h"
#include "pool/unattended.h"

namespace corral::pool {

class Pool final : private SlotOwner {
 public:
  using Haste = instance::Instance::Haste;

  /// Each of them outlives the pool; null = not recorded.
  struct Records {
    events::Stream* events = nullptr;
    instance::Journal* journal = nullptr;
    instance::ErrorFiles* error_files = nullptr;
    knowledge::ManifestStore* manifests = nullptr;
  };

  /// `loop` and `spawner` outlive it.
  Pool(Loop& loop, proc::Spawner& spawner, std::size_t line_cap);
  ~Pool() override;

  // ---- before a session needs an instance

  /// What the session can be told about its server without an instance. Nothing if it would share an instance
  /// that runs already, if too little is known, or if the files of the server have changed since.
  std::optional<Known> known(const Ask& ask);
  /// The last known tools/list result for such a session; empty if none is known. Valid until something new
  /// is learned.
  std::string_view known_tools(const Ask& ask) { return catalog_.known_tools(ask); }
  /// The session was answered from what is known: writes the event.
  void answered_without_instance(const router::SessionPort& port, const ServerSpec& spec) const;
  /// Whether the session would share its instance.
  bool would_share(const Ask& ask) { return catalog_.decide(ask).shared; }
  /// Why no instance can be started for this session and for `more` others, as a sentence that names the
  /// quota. Empty if there is room, or if a running instance would serve the session.
  std::string why_no_room(const Ask& ask, std::size_t more) { return capacity_.why_no_room(ask, more); }

  // ---- sessions

  /// Calls `SessionPort::opened` once, perhaps before this returns, unless the session is released first. The
  /// port must stay valid until it is released.
  void open(router::SessionPort& port, const Ask& ask);
  /// The session needs no instance any more, and its port may be destroyed after this call. True if an
  /// instance ends with it; `when_ended` is then called once, when its process tree is gone.
  bool release(router::SessionPort& port, Haste haste, WhenEnded when_ended, Ends ends = Ends::Session);
  /// For a session that has ended: nobody waits for the end of its instances any more, so they get less time.
  void hasten(SessionId session);
  /// The session object has ended: ends the instances that were started for it and that nobody else uses.
  /// `when_ended` is called for each of them, and for those that are ending already. Returns their number.
  std::size_t end_all_of(const std::string& owner, const WhenEnded& when_ended);
  /// Gives less time to those instances of the session object that are ending.
  void hasten_all_of(const std::string& owner);
  /// The daemon is shutting down: ends all instances, and starts no spare any more.
  void stop_all(Haste haste);

  /// The instances that have calls in flight.
  std::vector<InstanceId> with_calls() const;
  /// Ends the instance at once. Does nothing if it is gone.
  void kill(const InstanceId& instance);

  // ---- clients that nobody is attached to

  /// What happens to a ready instance if nobody has been attached to its clients for so long.
  UnattendedVerdict judge_unattended(const Slot& slot, Clock::duration unattended,
                                     const UnattendedRule& rule);
  /// Parks the sessions of the instance. Does nothing if it is gone, or ends already.
  void park(const InstanceId& instance);

  // ---- at the user's request

  using AllEnded = std::function<void(const std::vector<InstanceEnd>&)>;
  /// Ends every instance of the server, configured or of that name (with `Cause::Reloaded` only configured);
  /// calls in flight get `Limits::drain`. Its sessions stay, and get a new instance at once, or with
  /// `Cause::Stopped` after `allow`. Returns how many instances end. `done` is called once, when all of them
  /// are gone, perhaps before this returns.
  std::size_t retire(const std::string& server, Cause cause, const AllEnded& done);
  /// Allows a server that was stopped, or whose instances died too often, to start again. False if nothing
  /// prevented it.
  bool allow(const std::string& server);
  const StoppedServers& stopped() const { return stopped_; }
  /// The instance uses too much memory: it is replaced when its calls are answered. `why` is for the event.
  void recycle(const InstanceId& instance, const std::string& why);
  /// Checks now whether the files of running servers have changed. The pool also checks periodically.
  void look_at_code() { code_.look(); }

  // ---- settings

  void set_limits(const Limits& limits) { context_.limits = limits; }
  /// Applies to instances that are started from now on.
  void set_line_cap(std::size_t line_cap) { context_.line_cap = line_cap; }
  /// Called for each instance of a session object whose process tree could not be proved gone.
  using Unproved = std::function<void(const std::string& owner, const InstanceEnd& ended)>;
  void when_unproved(Unproved task) { unproved_ = std::move(task); }
  /// Where the pool writes what happens to instances and what it learns. Call it before the first session
  /// opens.
  void write_to(const Records& records);
  void learn_builds_with(CodeWatch::BuildOf build_of) { code_.learn_builds_with(std::move(build_of)); }
  /// This child of the daemon is not an instance. `ended` is called when it has ended.
  void started(pid_t child, instance::Children::Ended ended) { children_.started(child, std::move(ended)); }

  const Slots& slots() const { return slots_; }
  std::size_t living() const { return slots_.living(); }
  std::uint64_t started() const { return context_.started; }

 private:
  Result<void> make_room(const ServerSpec& spec) override { return capacity_.make_room(spec); }
  knowledge::Fingerprint watch_code(const instance::Instance& instance) override {
    return code_.watch(instance);
  }
  Slot* find(SlotId id) override { return slots_.find(id); }
  void slot_unused(SlotId id) override;
  void dispose(std::unique_ptr<router::Router> router) override;
  void ended_unproved(const std::string& owner, const InstanceEnd& ended) override;

  Slot& slot_for(const router::SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision);
  void ask_again(SlotId id, SessionId session);

  ServerCatalog catalog_;
  instance::Children children_;
  SlotContext context_;
  Slots slots_;
  std::vector<std::unique_ptr<router::Router>> ended_;  // destroyed in the next turn
  Capacity capacity_;
  CodeWatch code_;
  StoppedServers stopped_;
  Spares spares_;
  Unproved unproved_;
  Lifetime lifetime_;
};

}  // namespace corral::pool
