// One instance of a slot, from its start until its tree is gone: its router, which sessions it has lost, why
// it ends and how fast. Until the next instance starts, it still says why the last one ended.
//
// Owned by its slot, which decides what happens to it (pool/lifecycle.cc) and hears of its router.
// `leave_sessions` and `close` tell sessions something, and a session may call the pool and the slot from
// there; the router is never destroyed in here. Belongs to the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "pool/instance_end.h"
#include "pool/server_spec.h"
#include "router/router.h"

namespace corral::pool {

class Run {
 public:
  using Haste = instance::Instance::Haste;

  explicit Run(Loop& loop) : drain_(loop) {}

  // ---- what it is

  /// Null while there is no instance. Its instance is never null.
  router::Router* router() const { return router_.get(); }
  /// Why the instance ends, or the last one did.
  Cause cause() const { return facts_.cause; }
  Haste haste() const { return facts_.haste; }
  /// Why the instance is lost, for its sessions and for those that waited for it.
  const router::LastWords& last_words() const { return facts_.last_words; }
  int exit_code() const { return facts_.exit_code; }
  /// What has changed of its files since it was started; empty = nothing.
  const std::string& stale() const { return facts_.stale; }
  /// The session with which it ends; not set if it does not end with one.
  SessionId left_by() const { return facts_.left_by; }
  /// Whether there is an instance, and this session has lost it.
  bool was_lost_by(SessionId session) const { return router_ && facts_.lost_by.contains(session); }
  /// How long it has been ready; zero if it never was.
  Clock::duration time_ready() const;

  // ---- what happens to it

  /// It is started. Everything that was known of the one before it is forgotten.
  void begin(std::unique_ptr<router::Router> router);
  /// It could not be started: there is no router.
  void fail_to_start(const Error& error);
  void opened() { facts_.ready_since = Clock::now(); }
  void set_cause(Cause cause) { facts_.cause = cause; }
  void set_haste(Haste haste) { facts_.haste = haste; }
  void set_last_words(router::LastWords words) { facts_.last_words = std::move(words); }
  void mark_stale(const std::string& changed) { facts_.stale = changed; }
  void end_with(SessionId session, Haste haste);
  /// These sessions waited for it, and do so no longer.
  void lose(const std::vector<SessionId>& sessions) {
    facts_.lost_by.insert(sessions.begin(), sessions.end());
  }
  /// `task` is called by the slot, once, when the tree is gone.
  void when_gone(WhenGone task) { when_gone_.push_back(std::move(task)); }

  /// Its calls in flight have this long. `too_late` is called if the router is not drained by then.
  void drain(Clock::duration patience, Task too_late);
  void drained() { drain_.cancel(); }
  /// From now on it is on its way out; the first call counts.
  void note_ending();
  /// Its tree shall end, or end faster. Nothing happens if there is none.
  void stop(Haste haste);
  /// The sessions go on without it, and their calls are answered. Those stay that end with their server.
  void leave_sessions(const ServerSpec& spec);

  /// The tree is gone: the evidence.
  InstanceEnd finish(const std::string& server, const instance::Ending& ending);
  /// Tells the sessions that are left, and gives the router away, to be destroyed in a later turn.
  std::unique_ptr<router::Router> close(const instance::Ending& ending);
  std::vector<WhenGone> take_tasks() { return std::exchange(when_gone_, {}); }

 private:
  struct Facts {
    Cause cause = Cause::Died;
    Haste haste = Haste::Polite;
    std::optional<Clock::time_point> ready_since;
    std::optional<Clock::time_point> ending_since;
    router::LastWords last_words;
    int exit_code = 125;
    std::string stale;
    SessionId left_by;
    std::set<SessionId> lost_by;
  };

  Facts facts_;
  std::vector<WhenGone> when_gone_;
  Timer drain_;  // until calls in flight have had their time
  std::unique_ptr<router::Router> router_;
};

}  // namespace corral::pool
