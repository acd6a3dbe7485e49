// Holds one instance of a server at a time. Sessions that share an instance share its slot; a private session
// has a slot of its own. The slot starts, restarts and ends its instances as pool/lifecycle.cc decides, and
// answers the sessions that wait for one.
//
// Owned by the pool, which destroys it in a later turn of the loop than the one in which it was last used:
// remember its id, never its address. Used on the loop's thread. A session that is told something may call
// the pool and this slot before the call returns: it may leave, or ask again, while others are still to be
// told.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "knowledge/sharing.h"
#include "pool/holder.h"
#include "pool/instance_run.h"
#include "pool/lessons.h"
#include "pool/lifecycle.h"
#include "pool/restarts.h"
#include "pool/slot_context.h"
#include "pool/use_watch.h"
#include "pool/waiters.h"
#include "router/router.h"

namespace corral::pool {

/// What ends when a session leaves its slot: only the session, or also the session object that it belongs to,
/// and then a shared instance that was started for that object and that nobody else uses.
enum class Ends : std::uint8_t { Session, SessionObject };

class Slot final : private router::Router::Listener {
 public:
  using Haste = instance::Instance::Haste;

  /// `context` outlives it. `key` is how sessions find it; slot_key() makes it.
  Slot(SlotId id, SlotContext& context, std::string key, std::shared_ptr<const ServerSpec> spec,
       knowledge::SharingDecision decision, Holder holder);

  SlotId id() const { return id_; }
  const std::string& key() const { return key_; }
  const ServerSpec& spec() const { return *spec_; }
  const knowledge::SharingDecision& decision() const { return decision_; }
  Life life() const { return life_; }
  /// Null while there is no instance. The instance of the router is never null.
  const router::Router* router() const { return run_.router(); }
  /// The present instance, or why the last one ended.
  const InstanceRun& run() const { return run_; }
  const Holder& holder() const { return holder_; }
  const Waiters& waiters() const { return waiters_; }
  /// The files that the present instance was started from. Empty until it is open.
  const knowledge::Fingerprint& build() const { return lessons_.build(); }
  /// Whether no session is attached to its instance or waits for one.
  bool is_unused() const { return waiters_.empty() && (!router() || router()->sessions().empty()); }
  /// Whether it may be destroyed.
  bool is_vacant() const { return life_ == Life::Empty && !router() && waiters_.empty(); }

  // ---- its definition

  /// What is not part of the key may have changed: the next instance follows this definition. Does nothing
  /// while an instance is starting or ready.
  void redefine(std::shared_ptr<const ServerSpec> spec, const knowledge::SharingDecision& decision);
  /// Gives the spare to this session, which finds it by this key.
  void give_to(const router::SessionPort& port, std::string key, const knowledge::SharingDecision& decision);

  // ---- its life cycle

  /// Carries out the next step of pool/lifecycle.cc.
  void apply(Trigger trigger);
  /// The session waits for an instance; `opened` is called once. The caller applies `Trigger::Asked` when the
  /// instance may be started.
  void add_waiter(router::SessionPort& port, const std::string& initialize_params);
  /// Starts an instance if a session waits for one. If nobody needs the slot, it is given up.
  void resume();
  /// Calls `task` once, when the process tree of the present instance is gone. Call it only if there is one.
  void when_ended(WhenEnded task) { run_.when_ended(std::move(task)); }

  enum class Left : std::uint8_t {
    Stays,    // the instance serves others, or stays until it is idle
    Ends,     // the instance ends with the session; `when_ended` is called
    HadNone,  // the slot had no instance
  };
  /// The session leaves: nothing more is told to it, and its private instance ends.
  Left leave(router::SessionPort& port, Ends ends, Haste haste, WhenEnded when_ended);
  /// The session object that it was started for has ended. True if the instance ends; `task` is then called.
  bool end_with_owner(const WhenEnded& task);
  /// The instance that is ending gets less time.
  void hasten(Haste haste) { run_.stop(haste); }
  /// The daemon is shutting down.
  void stop(Haste haste);

  /// Nobody needs the instance now. Its sessions, if there are any, are parked.
  void end_unused(Cause cause);
  /// Ends the instance when its calls are answered. True if there is one; `task` (may be empty) is then
  /// called. With `Cause::Restarted` the sessions that wait keep waiting; otherwise they are answered.
  bool retire(Cause cause, const WhenEnded& task);
  /// Forgives earlier deaths and starts again if a session waits. True if a start was being held back.
  bool allow();
  /// The files of the instance have changed. Its sessions stay on the old code. Call it only while Ready.
  void mark_stale(const std::string& changed);

 private:
  void on_error_output(router::Router& router, std::string_view bytes) override;
  void on_open(router::Router& router) override;
  void on_unusable(router::Router& router) override;
  void on_calls_finished(router::Router& router) override;
  void on_hung(router::Router& router) override;
  void on_server_lost(router::Router& router, const router::LastWords& why) override;
  void on_instance_ended(router::Router& router, const instance::TreeEnd& ending) override;

  // the steps of the life cycle
  void start();
  void attach_waiters();
  void refuse_waiters();
  void drain();
  void end(Haste haste);

  void finish(const instance::TreeEnd& ending);

  const SlotId id_;
  SlotContext& context_;
  std::string key_;
  std::shared_ptr<const ServerSpec> spec_;
  knowledge::SharingDecision decision_;
  Holder holder_;
  Life life_ = Life::Empty;
  Waiters waiters_;
  bool silent_probe_ = false;  // the last instance did not answer the modern handshake: try legacy
  Restarts restarts_;
  UseWatch use_;
  Lessons lessons_;
  InstanceRun run_;
};

}  // namespace corral::pool
