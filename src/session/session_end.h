// The end of a session, which comes exactly once: because its client or the daemon wants it, with the server,
// or when a client that sends nothing more has its last answer. Every call that is still open is answered
// before, unless the client is gone.
//
// Owned by its session, whose other parts it uses; called on the loop's thread. It calls the transport, the
// pool and the router. The session is called only by them and by the bridge, which answers the calls that it
// holds. A caller that one of them may have called posts the end to the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/lifetime.h"
#include "base/loop.h"
#include "pool/pool.h"
#include "session/attachment.h"
#include "session/crossing.h"
#include "session/deferred.h"
#include "session/end_reason.h"
#include "session/opening.h"
#include "session/transport.h"

namespace corral::session {

/// Facts about a session for the status and the registry.
struct SessionRecord {
  Clock::time_point since = Clock::now();
  Clock::time_point last_heard = Clock::now();  // when the last message was received or sent
  std::uint64_t messages = 0;                   // received from the client
  std::uint64_t bad_messages = 0;               // of these: malformed or dropped
  const char* reason = "server-ended";          // why it ended, in one word; valid once it has ended
};

class SessionEnd {
 public:
  /// Parts of the session, or outlive it.
  struct Parts {
    router::SessionPort& session;
    SessionRecord& record;
    Transport& transport;
    pool::Pool& pool;
    Attachment& attachment;
    Opening& opening;
    Deferred& deferred;
    Crossing& crossing;
  };
  SessionEnd(Loop& loop, const Parts& parts) : parts_(parts), last_answers_(loop) {}

  bool ended() const { return ended_; }
  /// The server has ended, and the session ends with it. It is not over yet: some calls are still to be
  /// answered.
  bool server_lost() const { return server_lost_; }
  void note_server_lost() { server_lost_ = true; }

  using WhenEnded = std::function<void(const pool::InstanceEnd* ended)>;
  /// Ends the session. `when_ended` is called once: with the instance that ended with the session, when its
  /// process tree is gone, or with null if no instance ended. A second call only makes the end faster.
  void end(EndReason reason, const WhenEnded& when_ended);
  /// The session ends with its server and with its exit code, as if the client had started the server itself.
  void end_with_server(int code, const std::string& why);
  /// The client sends nothing more. The session ends when its calls are answered, or after a limited time.
  void input_ended();
  /// Ends the session if its client sends nothing more and waits for no answer.
  void end_if_answered();

 private:
  void refuse_deferred(int code, const std::string& why);
  void refuse_all(const std::string& why);
  void stop_parts();

  const Parts parts_;
  Timer last_answers_;  // after the client's last message, before the session ends
  bool server_lost_ = false;
  bool ended_ = false;
  Lifetime lifetime_;
};

}  // namespace corral::session
