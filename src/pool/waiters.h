// The sessions that wait for the instance of a slot, in the order in which they asked. Each is taken out
// before it is answered, so that it is answered once, whatever its answer sets off.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "router/session_port.h"

namespace corral::pool {

struct Waiter {
  router::SessionPort* port;
  std::string initialize_params;
  bool failed = false;  // the instance that it waited for did not open
  /// How it comes to its instance: "spawn" = one was started for it, "spare", "warm".
  const char* way = "warm";
};

/// A port stays valid while it is in here: a session that ends is removed first, also one that was dismissed
/// and has not been answered yet.
class Waiters {
 public:
  bool empty() const { return list_.empty(); }
  const Waiter& front() const { return list_.front(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// Whether the session waits, or is still to be answered.
  bool contains(SessionId session) const;
  std::vector<SessionId> sessions() const;

  void add(Waiter waiter) { list_.push_back(std::move(waiter)); }
  void remove(const router::SessionPort& port);
  /// An instance is started for the first of them.
  void mark_spawn();
  /// What they wait for did not open: they are refused once its tree is gone. Those that ask later are not.
  void mark_failed();

  Waiter take_front();
  /// They wait no longer, and are to be answered. A session that asks again meanwhile is not among them.
  std::vector<SessionId> dismiss_all();
  std::vector<SessionId> dismiss_failed();
  /// Answers each of these that is still there. An answer may end any session, and may add and dismiss
  /// others.
  using Answer = std::function<router::Opened(SessionId)>;
  void answer(const std::vector<SessionId>& dismissed, const Answer& answer);

 private:
  std::deque<Waiter> list_;
  std::deque<Waiter> dismissed_;  // until each is answered
};

}  // namespace corral::pool
