// Which session may read what a server writes without naming a call: log messages and stderr. What a private
// server writes is for its session. What a shared one writes is for the session that alone can have caused it
// (wire/attribution.h), or for none.
#pragma once

#include <string>
#include <string_view>

#include "router/attached_sessions.h"
#include "router/last_words.h"
#include "router/pending_calls.h"
#include "router/router_options.h"
#include "wire/attribution.h"

namespace corral::router {

class Audience {
 public:
  /// All of these outlive it.
  Audience(const RouterOptions& options, const AttachedSessions& sessions, const PendingCalls& calls,
           RouterCounters& counters);

  /// The session sends the instance a request, or corral sends one that repeats something of its client: from
  /// now on the server may write about it.
  void asked(const SessionPort& port) {
    callers_.add(port.id());
    if (port.of_several_programs()) callers_.add_unknown();
  }

  /// The session that alone can have caused what the server writes now; null = none, or more than one can.
  SessionPort* only_cause(Causes which) const;
  /// Passes on what the server wrote to stderr. Before the first request every session gets it: it cannot be
  /// about any of them.
  void pass_error_output(std::string_view bytes) const;
  /// `why` as a sentence; `error_tail` is the end of stderr, may be empty.
  LastWords last_words(const std::string& why, std::string_view error_tail) const;

 private:
  const RouterOptions& options_;
  const AttachedSessions& sessions_;
  const PendingCalls& calls_;
  RouterCounters& counters_;
  wire::PossibleCauses<SessionId> callers_;  // every session that ever sent this instance a request
};

}  // namespace corral::router
