// For whom a slot keeps its instance: one session, a session object (which may have several sessions), or, if
// it is a spare, a later session of a certain kind. If it is none of these, every session that finds the slot
// may use the instance.
//
// A value, owned by its slot. It makes no calls.
#pragma once

#include <string>

#include "router/session_port.h"

namespace corral::router {
class Router;
}

namespace corral::pool {

class Waiters;

class Holder {
 public:
  /// For every session that finds the slot.
  Holder() = default;
  /// For this session alone.
  static Holder of(SessionId session);
  /// For a session that has not asked yet. `for_whom` describes the sessions that may get the instance, and
  /// must not be empty; `introduction` holds the initialize parameters that their clients send.
  static Holder spare(std::string for_whom, std::string introduction);

  /// The session that has the private instance; not set if it is shared or still a spare.
  SessionId session() const { return session_; }
  /// The session object that the instance ends with, or empty.
  const std::string& object() const { return object_; }
  bool is_spare() const { return !spare_for_.empty(); }
  const std::string& spare_for() const { return spare_for_; }
  /// The initialize parameters with which a spare is opened; otherwise empty.
  const std::string& introduction() const { return introduction_; }

  /// Turns the spare into a private instance of this session.
  void give_to(const router::SessionPort& port);
  /// True once after `give_to`: for the first session that asks.
  bool take_given() { return std::exchange(given_, false); }
  /// An instance is started for the first of these. If nobody waits, nothing changes.
  void started_for(const Waiters& waiters);
  /// A shared instance ends with the last session object that uses it. Call this when a session has left: if
  /// its object does not use the instance any more, another object becomes the holder. `router` may be null.
  void hand_on(const router::Router* router, const Waiters& waiters);

 private:
  SessionId session_;
  std::string object_;
  std::string spare_for_;  // empty = it is not a spare
  std::string introduction_;
  bool given_ = false;
};

}  // namespace corral::pool
