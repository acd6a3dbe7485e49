// corral's own listen on a modern server. A legacy client expects to be told when a list changes, and a
// modern server tells that only to a client that listens. One listen serves all legacy clients of the
// instance.
#pragma once

#include <string_view>

#include "base/id.h"
#include "router/attached_sessions.h"
#include "router/pending_calls.h"
#include "wire/message.h"

namespace corral::router {

class OwnListen {
 public:
  /// `sessions` outlives it.
  OwnListen(const AttachedSessions& sessions, Ask ask);

  /// A legacy client needs it. Does nothing if it is open already, or if the server does not report changes
  /// of any list. `handshake_result` is the server's answer to server/discover, JSON.
  void open(std::string_view handshake_result);
  /// The server has ended it, by an answer or a cancellation. The next legacy client opens it again.
  void ended() { id_ = {}; }

  /// Whether this is the request that opened it.
  bool is(CallId id) const { return id_ && id == id_; }
  /// The server sent this notification to it: every session with a legacy client is told.
  void received(const wire::Message& message) const;

 private:
  const AttachedSessions& sessions_;
  Ask ask_;
  CallId id_{};  // none = it is not open
};

}  // namespace corral::router
