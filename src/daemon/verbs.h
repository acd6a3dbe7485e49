// Requests over the control socket other than `connect`: one question, one reply. A table in verbs.cc maps
// each verb to its handler, so a new verb is one row and one function there.
//
// The hub owns it and passes every question on. Must be used on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/connected_sessions.h"
#include "daemon/drain.h"
#include "daemon/owned_sessions.h"
#include "daemon/records.h"
#include "daemon/reload.h"
#include "daemon/server_definitions.h"
#include "daemon/session_records.h"
#include "daemon/snapshots.h"
#include "pool/pool.h"
#include "transport/session_opener.h"

namespace corral::daemon {

/// The exit code of a client that gets no server, and of a command whose question is refused.
inline constexpr int kRefused = 125;

class Verbs {
 public:
  /// The parts that the handlers use. All must outlive this object.
  struct Parts {
    ServerDefinitions& definitions;
    pool::Pool& pool;
    ConnectedSessions& sessions;
    OwnedSessions& owned;
    SessionRecords& session_records;
    Records& records;
    Snapshots& snapshots;
    Drain& drain;
    Reload& reload;
    std::function<void(std::string why)> asked_to_stop{};
  };
  explicit Verbs(const Parts& parts) : parts_(std::make_shared<Parts>(parts)) {}

  /// Calls `answer` once, at once or later, but not after this object was destroyed.
  void answer(transport::Question question, const transport::Answer& answer);

  /// Called when a client asks for a shutdown: the daemon process stops, and drains by itself.
  void when_asked_to_stop(std::function<void(std::string why)> task) {
    parts_->asked_to_stop = std::move(task);
  }

 private:
  std::shared_ptr<Parts> parts_;  // shared: an answer that comes later must not outlive them
};

}  // namespace corral::daemon
