// Records sessions: in the event stream (detach, refused) and in the registry. The pool emits the `attach`
// event; this class only writes its record. Called by the hub, on the loop's thread.
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
  std::string server;  // empty = none was named, or, by URL, none that is configured
  std::string cause;   // one word
  std::string why;     // a sentence
  pid_t process = 0;
  std::string principal = "user";
};

class SessionRecords {
 public:
  /// Both must outlive this object.
  SessionRecords(Records& records, Shares& shares) : records_(records), shares_(shares) {}

  /// The session has an instance. Sessions are recorded from now on; earlier there is nothing to record.
  void attached(const ConnectedSession& connected) { keep(connected, 0); }
  /// The session has ended and is about to be removed.
  void detached(const ConnectedSession& connected);
  /// Limited to the rate at which the principal may write to the log: a client that is refused a thousand
  /// times a second must not fill the log and the registry.
  void refused(const RefusedClient& client);

 private:
  void keep(const ConnectedSession& connected, std::int64_t ended_ms);  // 0 = it has not ended

  Records& records_;
  Shares& shares_;
};

}  // namespace corral::daemon
