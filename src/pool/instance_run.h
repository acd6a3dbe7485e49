// One instance of a slot, from its start until its process tree is gone: with which options and words it is
// started, its router, the sessions that lost it, why it ends and how fast. Until the next instance starts,
// it tells why the last one ended.
//
// Owned by its slot, which listens to the router and decides what happens (pool/lifecycle.cc). Used on the
// loop's thread. `detach_sessions` and `close` tell sessions something, and a session may call the pool and
// the slot from there. The router is never destroyed inside these functions.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/result.h"
#include "knowledge/sharing.h"
#include "pool/instance_end.h"
#include "pool/slot_context.h"
#include "router/router.h"

namespace corral::pool {

/// The first words of the handshake. `expected` is the era to try first. `introduction` holds the initialize
/// parameters of the client of a private instance; it may be empty. A shared instance is opened without the
/// capabilities of any client.
instance::Opening opening_for(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                              std::optional<knowledge::Era> expected, const std::string& introduction);

class InstanceRun {
 public:
  using Haste = instance::Instance::Haste;

  explicit InstanceRun(Loop& loop) : drain_(loop) {}

  // ---- its state

  /// Null while there is no instance. The instance of the router is never null.
  router::Router* router() const { return router_.get(); }
  /// Why the instance ends, or why the last one ended.
  Cause cause() const { return facts_.cause; }
  Haste haste() const { return facts_.haste; }
  /// Why the instance was lost, for its sessions and for the sessions that waited for it.
  const router::LastWords& last_words() const { return facts_.last_words; }
  int exit_code() const { return facts_.exit_code; }
  /// Which of its files has changed since it was started, as a phrase; empty = none.
  const std::string& stale() const { return facts_.stale; }
  /// The session that it ends with; not set if there is none.
  SessionId ends_with() const { return facts_.ends_with; }
  /// Whether there is still an instance, and this session has lost it.
  bool was_lost_by(SessionId session) const { return router_ && facts_.lost_by.contains(session); }
  /// How long it has been ready; zero if it never was.
  Clock::duration time_ready() const;

  // ---- events

  /// Makes room if it must, and starts the process; the caller opens the router. Forgets everything about the
  /// previous instance. `listener` and `learner` outlive the router. If it fails, nothing runs, and the error
  /// is a sentence for the sessions that wait.
  Result<void> start(SlotContext& context, const ServerSpec& spec, const knowledge::SharingDecision& decision,
                     router::Router::Listener& listener, router::Learner& learner);
  /// No instance could be started; there is no router.
  void fail_to_start(const Error& error);
  void opened() { facts_.ready_since = Clock::now(); }
  void set_cause(Cause cause) { facts_.cause = cause; }
  void set_haste(Haste haste) { facts_.haste = haste; }
  void set_last_words(router::LastWords words) { facts_.last_words = std::move(words); }
  void mark_stale(const std::string& changed) { facts_.stale = changed; }
  void end_with(SessionId session, Haste haste);
  /// These sessions do not wait for the instance any more.
  void lose(const std::vector<SessionId>& sessions) {
    facts_.lost_by.insert(sessions.begin(), sessions.end());
  }
  /// The slot calls `task` once, when the process tree is gone.
  void when_ended(WhenEnded task) { when_ended_.push_back(std::move(task)); }

  /// The router takes no new calls, and its calls in flight have this long. `too_late` is called unless
  /// `drained` or `note_ending` is called before.
  void drain(Clock::duration patience, Task too_late);
  void drained() { drain_.cancel(); }
  /// The end begins now. Only the first call counts.
  void note_ending();
  /// Ends the process tree, or ends it faster. Does nothing if there is no instance.
  void stop(Haste haste);
  /// Answers the calls of the sessions and detaches them, except those that end with their server.
  void detach_sessions(const ServerSpec& spec);

  /// The process tree is gone. Returns the evidence.
  InstanceEnd finish(const std::string& server, const instance::TreeEnd& ending);
  /// Tells the remaining sessions, and returns the router, which must be destroyed in a later turn.
  std::unique_ptr<router::Router> close(const instance::TreeEnd& ending);
  std::vector<WhenEnded> take_tasks() { return std::exchange(when_ended_, {}); }

 private:
  struct Facts {
    Cause cause = Cause::Died;
    Haste haste = Haste::Polite;
    std::optional<Clock::time_point> ready_since;
    std::optional<Clock::time_point> ending_since;
    router::LastWords last_words;
    int exit_code = 125;
    std::string stale;
    SessionId ends_with;
    std::set<SessionId> lost_by;
  };

  Facts facts_;
  std::vector<WhenEnded> when_ended_;
  Timer drain_;  // while calls in flight have time
  std::unique_ptr<router::Router> router_;
};

}  // namespace corral::pool
