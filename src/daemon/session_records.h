// What is told about sessions: to the event stream (detach, refused) and to the registry. The pool tells the
// `attach` event; this part only writes its record. Belongs to the loop thread; called by the hub.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/shares.h"
#include "daemon/connected_sessions.h"
#include "daemon/records.h"

namespace corral::daemon {

/// A client that got no session.
struct RefusedClient {
  std::string server;  // empty = none was named, or none that exists
  std::string cause;   // one word
  std::string why;     // a sentence
  pid_t process = 0;
  std::string principal = "user";
};

class SessionRecords {
 public:
  /// Both outlive it.
  SessionRecords(Records& records, Shares& shares) : records_(records), shares_(shares) {}

  /// The session has an instance. Sessions are recorded from now on; earlier there is nothing to record.
  void attached(const ConnectedSession& connected) { keep(connected, 0); }
  /// The session is over, and about to be removed.
  void detached(const ConnectedSession& connected);
  /// Told only as often as the principal may write to the log: a client that is refused a thousand times a
  /// second must not fill the log and the registry.
  void refused(const RefusedClient& client);

 private:
  void keep(const ConnectedSession& connected, std::int64_t ended_ms);  // 0 = it is not over

  Records& records_;
  Shares& shares_;
};

}  // namespace corral::daemon
