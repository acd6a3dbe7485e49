// The sessions that wait for the instance of a slot, in the order in which they asked. Each is taken out
// before it is answered, so that it is answered once, whatever its answer sets off.
#pragma once

#include <deque>
#include <string>

#include "router/session_port.h"

namespace corral::pool {

struct Waiter {
  router::SessionPort* port;
  std::string initialize_params;
  bool failed = false;  // the instance that it waited for did not open
  const char* way =
      "warm";  // how it comes to its instance: "spawn" = one was started for it, "spare", "warm"
};

/// Tells each that no instance comes, or that it must ask again. They have been taken out before.
void answer_all(const std::deque<Waiter>& waiters, const router::Opened& answer);

/// A port stays valid while it is in here: a session that ends is removed first.
class Waiters {
 public:
  bool empty() const { return list_.empty(); }
  const Waiter& front() const { return list_.front(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool contains(SessionId session) const;

  void add(Waiter waiter) { list_.push_back(std::move(waiter)); }
  void remove(const router::SessionPort& port);
  /// An instance is started for the first of them.
  void mark_spawn();
  /// What they wait for did not open: they are refused once its tree is gone. Those that ask later are not.
  void mark_failed();

  Waiter take_front();
  std::deque<Waiter> take_all() { return std::exchange(list_, {}); }
  std::deque<Waiter> take_failed();

 private:
  std::deque<Waiter> list_;
};

}  // namespace corral::pool
