// The notifications of a server: which sessions get each of them, and what becomes of those whose client does
// not read. Never passes one session's progress, log message or listen to another session.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "router/admission.h"
#include "router/attached_sessions.h"
#include "router/audience.h"
#include "router/own_listen.h"
#include "router/pending_calls.h"
#include "router/questions.h"
#include "router/router_options.h"
#include "router/standing_requests.h"

namespace corral::router {

class News {
 public:
  /// The parts of the router that know to which session a notification belongs. All outlive it.
  struct Parts {
    const RouterOptions& options;
    const Admission& admission;
    const AttachedSessions& sessions;
    const Audience& audience;
    const StandingRequests& standing;
    PendingCalls& calls;
    Questions& questions;
    OwnListen& listen;
    RouterCounters& counters;
  };

  explicit News(const Parts& parts) : parts_(parts) {}

  /// Passes a notification on to the sessions that it is for. One that is for no session is dropped and
  /// counted.
  void pass_on(const wire::Message& notification);
  /// Tells the listens of this session that asked for it that the list has changed.
  void tell_listens(SessionPort& port, ChangedList list) const;

  /// The client of this session has finished its handshake: it is told about changed lists from now on.
  void initialized(SessionId session) { initialized_.insert(session); }
  /// The client reads again: it is told which lists have changed in the meantime.
  void client_reads(SessionPort& port);
  /// The session has left.
  void left(SessionId session);

 private:
  void progress(const wire::Message& notification);
  void cancelled(const wire::Message& notification);
  void listened(const wire::Message& notification);
  void log_message(const wire::Message& notification);
  bool resource_updated(const wire::Message& notification);
  void deliver_to_all(const std::vector<SessionId>& sessions, const wire::Message& notification);
  void deliver(SessionPort& port, const wire::Message& notification,
               std::initializer_list<wire::Edit> edits = {});
  void drop() { ++parts_.counters.dropped_news; }

  const Parts parts_;
  std::set<SessionId> initialized_;
  std::map<SessionId, std::set<ChangedList>> owed_;  // lists that changed while the client did not read
};

}  // namespace corral::router
