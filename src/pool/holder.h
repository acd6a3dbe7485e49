// For whom a slot has its instance: one session, a session object (which may have several sessions), or, for
// a spare, the next of the sessions that it may be given to. Without any of them the instance is for all
// sessions that find its slot.
//
// Owned by its slot, and a value: it calls nobody.
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
  /// Nobody in particular.
  Holder() = default;
  /// A private instance of this session.
  static Holder of(SessionId session);
  /// A private instance that is started before a session asks for it. `for_whom` describes the sessions that
  /// may have it, and must not be empty; `introduction` is what their clients say in an initialize request.
  static Holder spare(std::string for_whom, std::string introduction);

  /// Not set unless the instance is private and has been given to a session.
  SessionId session() const { return session_; }
  /// The session object that the instance ends with, or empty.
  const std::string& object() const { return object_; }
  bool is_spare() const { return !spare_for_.empty(); }
  const std::string& spare_for() const { return spare_for_; }
  /// How a spare is opened, in the words of an initialize request; otherwise empty.
  const std::string& introduction() const { return introduction_; }

  /// The spare is this session's from now on.
  void give_to(const router::SessionPort& port);
  /// Whether it was a spare until the session that asks now got it. True once.
  bool take_given() { return std::exchange(given_, false); }
  /// An instance is started for the first of these; without one, the holder stays as it is.
  void started_for(const Waiters& waiters);
  /// A shared instance ends with the last session object that uses it. Call it when a session has left:
  /// the object that the instance was started for may use it no longer. `router` may be null.
  void hand_on(const router::Router* router, const Waiters& waiters);

 private:
  SessionId session_;
  std::string object_;
  std::string spare_for_;  // empty = it is not a spare
  std::string introduction_;
  bool given_ = false;
};

}  // namespace corral::pool
