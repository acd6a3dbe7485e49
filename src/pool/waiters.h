// The sessions that wait for the instance of a slot, in the order in which they asked. Each is removed before
// it is answered, so that it is answered once, even if it asks again from within the answer. Owned by the
// slot, used on the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "events/event.h"
#include "router/session_port.h"

namespace corral::pool {

struct Waiter {
  router::SessionPort* port;
  std::string initialize_params;
  bool failed = false;                      // the instance that it waited for did not open
  events::Cause way = events::Cause::Warm;  // how it gets its instance: Spawn, Spare or Warm
};

/// A port must stay valid while it is in here: call `remove` before a session is destroyed, even if the
/// session was dismissed and has not been answered yet.
class Waiters {
 public:
  bool empty() const { return list_.empty(); }
  const Waiter& front() const { return list_.front(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// Whether the session waits, or was dismissed and has not been answered yet.
  bool contains(SessionId session) const;
  std::vector<SessionId> sessions() const;

  void add(Waiter waiter) { list_.push_back(std::move(waiter)); }
  void remove(const router::SessionPort& port);
  /// An instance is started for the first of them.
  void mark_spawn();
  /// The instance did not open: all of them will be refused when its tree is gone. Later ones will not.
  void mark_failed();

  Waiter take_front();
  /// These sessions do not wait any more; the caller must answer them. A session that asks again waits again.
  std::vector<SessionId> dismiss_all();
  std::vector<SessionId> dismiss_failed();
  /// Answers each of these sessions, unless it was removed. An answer may remove, add and dismiss others.
  using Answer = std::function<router::Opened(SessionId)>;
  void answer(const std::vector<SessionId>& dismissed, const Answer& answer);

 private:
  std::deque<Waiter> list_;
  std::deque<Waiter> dismissed_;  // and not answered yet
};

}  // namespace corral::pool
