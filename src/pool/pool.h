// Finds the instance that a session speaks to, or starts one: shared where the evidence allows, private
// otherwise. Owns the slots, in which instances live, and what keeps their number flat.
//
// Belongs to the loop's thread. Most of what it does tells sessions something before it returns, and a
// session may call back at once: open, release, or end. Slots are destroyed in a later turn.
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

namespace corral::pool {

class Pool final : private SlotOwner {
 public:
  using Haste = instance::Instance::Haste;

  /// Each outlives the pool; null = nowhere.
  struct Records {
    events::Stream* events = nullptr;
    instance::Journal* journal = nullptr;
    instance::ErrorFiles* error_files = nullptr;
    knowledge::ManifestStore* manifests = nullptr;
  };

  /// `loop` and `spawner` outlive it.
  Pool(Loop& loop, proc::Spawner& spawner, std::size_t line_cap);
  ~Pool() override;

  // ---- what may be asked before a session needs an instance

  /// What a session may be told without an instance. Nothing if one runs already that it would share, if too
  /// little is known, or if the server's files have changed since.
  std::optional<Known> known(const Ask& ask);
  /// The last tools/list result that such a session got, until something new is learned; empty if none is
  /// known.
  std::string_view known_tools(const Ask& ask) { return catalog_.known_tools(ask); }
  /// The session was told what is known, and needs no instance for now.
  void answered_without_instance(const router::SessionPort& port, const ServerSpec& spec) const;
  /// Whether such a session would get an instance together with others.
  bool would_share(const Ask& ask) { return catalog_.decide(ask).shared; }
  /// Whether an instance can be started for such a session and for `more` others, or one runs that it would
  /// get. Empty, or a sentence that names the quota.
  std::string why_no_room(const Ask& ask, std::size_t more) { return capacity_.why_no_room(ask, more); }

  // ---- sessions

  /// The port hears `opened` once, perhaps before this returns, unless the session is released before. The
  /// port stays valid until it is released.
  void open(router::SessionPort& port, const Ask& ask);
  /// The session's lease ends. True if the instance ends with it; `when_gone` is called when its tree is
  /// gone.
  bool release(router::SessionPort& port, Haste haste, WhenGone when_gone, Ends ends = Ends::Session);
  /// Nobody waits any more for the end of the instances that this session had, which has ended.
  void hasten(SessionId session);
  /// The session object is over: what was started for it and is used by nobody else goes. `when_gone` hears
  /// of each, also of those that are on their way out already. Returns how many there are.
  std::size_t end_all_of(const std::string& owner, const WhenGone& when_gone);
  /// Nobody waits any more for those that are on their way out.
  void hasten_all_of(const std::string& owner);
  /// The daemon ends: no instance is started any more, and all go.
  void stop_all(Haste haste);

  /// The instances that have calls in flight.
  std::vector<InstanceId> with_calls() const;
  /// The instance, which is on its way out, has had its time. Nothing happens if it is gone.
  void kill(const InstanceId& instance);

  // ---- on the user's word

  using AllGone = std::function<void(const std::vector<InstanceEnd>&)>;
  /// Every instance of the server goes; calls in flight get `Limits::drain`. Its sessions stay, and get a new
  /// instance at once, or with `Cause::Stopped` none before `allow`. Returns how many go; `done` is called in
  /// any case, perhaps before this returns.
  std::size_t retire(const std::string& server, Cause cause, const AllGone& done);
  /// What was stopped, or has died too often, may be started again. False if there was nothing to allow.
  bool allow(const std::string& server);
  const StoppedServers& stopped() const { return stopped_; }
  /// The instance has grown too large: another one takes its place when its calls are answered.
  void recycle(const InstanceId& instance, const std::string& why);
  /// Looks whether the files of running servers have changed; also done by itself now and then.
  void look_at_code() { code_.look(); }

  // ---- how it is set up

  void set_limits(const Limits& limits) { context_.limits = limits; }
  /// For the instances that are started from now on.
  void set_line_cap(std::size_t line_cap) { context_.line_cap = line_cap; }
  /// Hears of every instance that was started for a session object and whose end was not proved.
  using Unproved = std::function<void(const std::string& owner, const InstanceEnd& gone)>;
  void when_unproved(Unproved task) { unproved_ = std::move(task); }
  /// Where it is written what happens to instances, and what is learned from them. Call it before the first
  /// session opens.
  void write_to(const Records& records);
  void learn_builds_with(CodeWatch::BuildOf build_of) { code_.learn_builds_with(std::move(build_of)); }
  /// A child of this process that is not an instance, and is meant to be there until it dies.
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
  void ended_unproved(const std::string& owner, const InstanceEnd& gone) override;

  Slot& slot_for(const router::SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision);
  void ask_again(SlotId id, SessionId session);

  ServerCatalog catalog_;
  instance::Children children_;
  SlotContext context_;
  Slots slots_;
  std::vector<std::unique_ptr<router::Router>> ended_;  // until the next turn
  Capacity capacity_;
  CodeWatch code_;
  StoppedServers stopped_;
  Spares spares_;
  Unproved unproved_;
  Lifetime lifetime_;
};

}  // namespace corral::pool
