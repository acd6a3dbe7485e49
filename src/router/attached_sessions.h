// The sessions that are attached to one instance. This is the only place where the router holds them by
// address; its parts remember a session by its id and look it up here, because any call of a session may end
// another one.
#pragma once

#include <map>
#include <vector>

#include "router/session_port.h"

namespace corral::router {

class AttachedSessions {
 public:
  /// The session removes itself before it is destroyed.
  void add(SessionPort& port) { ports_[port.id()] = &port; }
  /// False if it was not attached.
  bool remove(SessionId session) { return ports_.erase(session) > 0; }

  /// Null if the session is not attached, or no longer.
  SessionPort* find(SessionId session) const {
    const auto found = ports_.find(session);
    return found == ports_.end() ? nullptr : found->second;
  }
  bool contains(SessionId session) const { return ports_.contains(session); }
  /// The session of a private instance. Null if none is attached, or several are.
  SessionPort* only() const { return ports_.size() == 1 ? ports_.begin()->second : nullptr; }
  /// A copy, in order of age: what one session is told may end another one.
  std::vector<SessionId> ids() const {
    std::vector<SessionId> ids;
    ids.reserve(ports_.size());
    for (const auto& [id, port] : ports_) ids.push_back(id);
    return ids;
  }
  /// Calls `visit(SessionPort&)` for each session that is still attached when its turn comes.
  template <class Visit>
  void each(Visit visit) const {
    for (const SessionId session : ids()) {
      if (SessionPort* const port = find(session)) visit(*port);
    }
  }

  bool empty() const { return ports_.empty(); }
  std::size_t size() const { return ports_.size(); }
  /// Pairs of id and address. Nothing may be told to a session in such a loop: use `each` for that.
  auto begin() const { return ports_.begin(); }
  auto end() const { return ports_.end(); }

 private:
  std::map<SessionId, SessionPort*> ports_;
};

}  // namespace corral::router
