// A slot holds one instance of a server at a time, and after it the next. Sessions that share an instance
// share its slot; a private session has a slot of its own. The slot starts, restarts and ends its instances
// as pool/lifecycle.cc says, and answers the sessions that wait for one.
//
// Owned by the pool, which destroys it in a later turn than the one in which it was last used; remember its
// id, never its address. Whatever it tells a session may call the pool and this slot again: a session may
// leave or ask while others are being told. Belongs to the loop's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "knowledge/sharing.h"
#include "pool/holder.h"
#include "pool/lessons.h"
#include "pool/lifecycle.h"
#include "pool/restarts.h"
#include "pool/run.h"
#include "pool/slot_context.h"
#include "pool/use_watch.h"
#include "pool/waiters.h"
#include "router/router.h"

namespace corral::pool {

/// What ends when a session leaves its slot: the session alone, or with it the session object that it belongs
/// to, and a shared instance that was started for that object and that nobody else uses.
enum class Ends : std::uint8_t { Session, SessionObject };

class Slot final : private router::Router::Listener {
 public:
  using Haste = instance::Instance::Haste;

  /// `context` outlives it. `key` says which sessions find it: those that ask for the same, or one alone.
  Slot(SlotId id, SlotContext& context, std::string key, std::shared_ptr<const ServerSpec> spec,
       knowledge::SharingDecision decision, Holder holder);

  SlotId id() const { return id_; }
  const std::string& key() const { return key_; }
  const ServerSpec& spec() const { return *spec_; }
  const knowledge::SharingDecision& decision() const { return decision_; }
  Life life() const { return life_; }
  /// Null while there is no instance. Its instance is never null.
  const router::Router* router() const { return run_.router(); }
  /// The present instance, or why the last one ended.
  const Run& run() const { return run_; }
  const Holder& holder() const { return holder_; }
  const Waiters& waiters() const { return waiters_; }
  /// Which files the present instance was started from. Empty while it is not open.
  const knowledge::Fingerprint& build() const { return lessons_.build(); }
  /// Whether no session has its instance or waits for one.
  bool is_unused() const { return waiters_.empty() && (!router() || router()->sessions().empty()); }
  /// Whether it may be destroyed.
  bool is_vacant() const { return life_ == Life::Empty && !router() && waiters_.empty(); }

  // ---- whose it is

  /// Until it runs: what is not part of the key may have changed, and the next instance follows it.
  void redefine(std::shared_ptr<const ServerSpec> spec, const knowledge::SharingDecision& decision);
  /// The spare is this session's from now on, and found by this key.
  void give_to(const router::SessionPort& port, std::string key, const knowledge::SharingDecision& decision);

  // ---- what happens to it

  /// Carries out what the lifecycle says.
  void apply(Trigger trigger);
  /// The session waits, and hears `opened` once; perhaps not before somebody applies Asked.
  void add_waiter(router::SessionPort& port, const std::string& initialize_params);
  /// Starts an instance if a session waits for one. A slot that nobody needs by now is given up.
  void resume();
  /// Called once, when the tree of the present instance is gone.
  void when_gone(WhenGone task) { run_.when_gone(std::move(task)); }

  enum class Left : std::uint8_t {
    Stays,    // for others, or until it is idle
    Ends,     // with the session; `when_gone` hears of it
    HadNone,  // the slot had no instance
  };
  /// The session leaves: it is told nothing more, and an instance of its own ends.
  Left leave(router::SessionPort& port, Ends ends, Haste haste, WhenGone when_gone);
  /// The session object that it was started for is over. True if the instance ends, and `task` hears of it.
  bool end_with_owner(const WhenGone& task);
  /// The instance that is on its way out gets less time.
  void hasten(Haste haste) { run_.stop(haste); }
  /// The daemon ends.
  void stop(Haste haste);

  /// Nobody needs the instance for now.
  void end_unused(Cause cause);
  /// The instance goes when its calls are answered; `task` hears of it if there is one, which is returned.
  /// With `Cause::Restarted` those who wait go on waiting, otherwise they are answered.
  bool retire(Cause cause, const WhenGone& task);
  /// What has died may be started again. True if that was not so before.
  bool allow();
  /// The files of its instance have changed. Sessions that are here finish on the old code.
  void mark_stale(const std::string& changed);

 private:
  void on_error_output(router::Router& router, std::string_view bytes) override;
  void on_open(router::Router& router) override;
  void on_unusable(router::Router& router) override;
  void on_calls_finished(router::Router& router) override;
  void on_hung(router::Router& router) override;
  void on_server_lost(router::Router& router, const router::LastWords& why) override;
  void on_instance_ended(router::Router& router, const instance::Ending& ending) override;

  // the steps of the lifecycle
  void start();
  void attach_waiters();
  void refuse_waiters();
  void drain();
  void end(Haste haste);

  void gone(const instance::Ending& ending);

  const SlotId id_;
  SlotContext& context_;
  std::string key_;
  std::shared_ptr<const ServerSpec> spec_;
  knowledge::SharingDecision decision_;
  Holder holder_;
  Life life_ = Life::Empty;
  Waiters waiters_;
  bool silent_probe_ = false;  // the last one had no answer to the probe: it must be a legacy server
  Restarts restarts_;
  UseWatch use_;
  Lessons lessons_;
  Run run_;
};

}  // namespace corral::pool
