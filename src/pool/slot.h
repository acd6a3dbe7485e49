// A slot holds one instance of a server at a time, and after it the next. Sessions that share an instance
// share its slot; a private session has a slot of its own. The slot starts, restarts and ends its instances
// as pool/lifecycle.cc says, and answers the sessions that wait for one.
//
// Owned by the pool, which destroys it in a later turn than the one in which it was last used; remember its
// id, never its address. Whatever it tells a session may call the pool and this slot again: a session may
// leave or ask while others are being told. Belongs to the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/sharing.h"
#include "pool/lessons.h"
#include "pool/lifecycle.h"
#include "pool/restart_policy.h"
#include "pool/slot_context.h"
#include "pool/waiters.h"
#include "router/router.h"

namespace corral::pool {

class Slot final : private router::Router::Listener {
 public:
  using Haste = instance::Instance::Haste;

  /// `context` outlives it. `key` says which sessions find it: those that ask for the same, or one alone.
  Slot(SlotId id, SlotContext& context, std::string key, std::shared_ptr<const ServerSpec> spec,
       knowledge::SharingDecision decision);

  SlotId id() const { return id_; }
  const std::string& key() const { return key_; }
  const ServerSpec& spec() const { return *spec_; }
  const knowledge::SharingDecision& decision() const { return decision_; }
  Life life() const { return life_; }
  /// Null while there is no instance. Its instance is never null.
  const router::Router* router() const { return router_.get(); }
  /// Why the present instance ends, or the last one did.
  Cause cause() const { return run_.cause; }
  const router::LastWords& last_words() const { return last_words_; }
  const std::string& stale() const { return run_.stale; }  // what has changed of its files; empty = nothing
  const knowledge::Fingerprint& build() const { return lessons_.build(); }
  const std::string& spare_for() const { return spare_.for_whom; }  // empty = it is not a spare
  const std::string& started_for() const { return started_for_; }   // a session object, or empty
  SessionId session() const { return session_; }                    // private: whose it is
  SessionId left_by() const { return run_.left_by; }  // private: whose it was until that session ended
  /// Whether its instance is on its way out.
  bool is_ending() const { return life_ == Life::Ending || life_ == Life::Failing || life_ == Life::Dying; }
  /// Whether no session has its instance or waits for one.
  bool is_unused() const { return waiters_.empty() && (!router_ || router_->sessions().empty()); }
  /// Whether it may be destroyed.
  bool is_vacant() const { return life_ == Life::Empty && !router_ && waiters_.empty(); }
  bool awaited_by(SessionId session) const { return waiters_.contains(session); }
  /// Whether the session has its instance, or waits for one.
  bool serves(SessionId session) const {
    return waiters_.contains(session) || (router_ && router_->sessions().contains(session));
  }
  /// Whether this session has lost the instance that is on its way out.
  bool was_left_by(SessionId session) const { return router_ && is_ending() && run_.left.contains(session); }

  // ---- whose it is

  /// Until it runs: what is not part of the key may have changed, and the next instance follows it.
  void redefine(std::shared_ptr<const ServerSpec> spec, const knowledge::SharingDecision& decision);
  /// A private one.
  void reserve_for(SessionId session) { session_ = session; }
  /// It is kept ready for one of the sessions that `for_whom` describes.
  void make_spare(std::string for_whom, std::string introduction) {
    spare_ = {std::move(for_whom), std::move(introduction), false};
  }
  /// The spare is this session's from now on, and found by this key.
  void give_to(const router::SessionPort& port, std::string key, const knowledge::SharingDecision& decision);

  // ---- what happens to it

  /// Carries out what the lifecycle says. `next_delay` is for Gone: how long the next start waits.
  void apply(Trigger trigger, Clock::duration next_delay = {});
  /// The session waits, and hears `opened` once; perhaps not before somebody applies Asked.
  void add_waiter(router::SessionPort& port, const std::string& initialize_params);
  /// What its waiters had to wait for is over. A slot that nobody needs by now is given up.
  void resume();
  /// Called once, when the tree of the present instance is gone.
  void when_gone(WhenGone task) { when_gone_.push_back(std::move(task)); }

  /// The session leaves. True if the slot stays for others, or until it is idle; otherwise call `end_with`.
  bool leave(router::SessionPort& port, bool with_owner);
  /// The last session has left. True if there is an instance that ends with it.
  bool end_with(SessionId session, Haste haste, WhenGone task);
  /// The session that a private one belonged to is over, while its instance is on its way out.
  void note_end_of(SessionId session) {
    if (session_ == session && router_) run_.left_by = session;
  }
  /// The session object that it was started for is over. True if the instance ends, and `task` hears of it.
  bool end_with_owner(const WhenGone& task);
  /// The instance that is on its way out gets less time.
  void hasten(Haste haste) {
    if (router_) router_->stop(haste);
  }
  /// The daemon ends.
  void stop(Haste haste);

  /// Nobody needs the instance for now.
  void end_unused(Cause cause);
  /// The instance goes when its calls are answered; `task` hears of it if there is one. With
  /// `Cause::Restarted` those who wait go on waiting, otherwise they are answered.
  void retire(Cause cause, const WhenGone& task);
  /// The instance has grown too large: another one follows when its calls are answered.
  void recycle(const std::string& why);
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
  void delay(Clock::duration delay);
  void revive();

  Result<void> start_instance();
  router::RouterOptions router_options() const;
  instance::Opening opening() const;
  void refuse_version(const std::string& objection);
  void leave_sessions();
  void gone(const instance::Ending& ending);
  void died();
  void hand_on();
  void watch_use(Clock::duration after);
  void look_at_use();
  void tell(events::Event event) const;

  /// What is true of one instance, from its start to its end.
  struct Run {
    Cause cause = Cause::Died;  // why it ends
    Haste haste = Haste::Polite;
    std::optional<Clock::time_point> ready_since;
    std::optional<Clock::time_point> ending_since;
    SessionId left_by;         // private: the session that it belonged to, and that is over
    std::set<SessionId> left;  // the sessions that it has lost, while it goes
    std::string stale;         // what has changed of its files since; empty = nothing
  };

  /// A private one that is started before a session asks for it.
  struct Spare {
    std::string for_whom;      // the sessions that may have it; empty = it is not a spare
    std::string introduction;  // the words of the client for which it is opened
    bool given = false;        // to the session that asks next
  };

  const SlotId id_;
  SlotContext& context_;
  std::string key_;
  std::shared_ptr<const ServerSpec> spec_;
  knowledge::SharingDecision decision_;
  Life life_ = Life::Empty;
  Waiters waiters_;
  std::vector<WhenGone> when_gone_;
  Run run_;
  Spare spare_;
  SessionId session_;
  std::string started_for_;       // the session object whose session asked first
  router::LastWords last_words_;  // why the last instance died
  int last_exit_code_ = 125;
  bool silent_probe_ = false;  // the last one had no answer to the probe: it must be a legacy server
  RestartPolicy policy_;
  Timer delay_;  // until the next start, or until a broken one may be tried again
  Timer use_;    // looks whether it is still used
  Timer drain_;  // until calls in flight have had their time
  Lessons lessons_;
  std::unique_ptr<router::Router> router_;  // while there is an instance
};

}  // namespace corral::pool
