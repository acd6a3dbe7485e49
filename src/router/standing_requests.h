// The requests whose effect lasts: the log level and subscriptions. A shared server gets each of them once,
// however many sessions want it, and a new instance gets again what the last one was told.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/attached_sessions.h"
#include "router/log_levels.h"
#include "router/pending_calls.h"
#include "router/router_options.h"
#include "router/subscriptions.h"
#include "wire/message.h"

namespace corral::router {

class StandingRequests {
 public:
  /// The references outlive it. `forget` may end the drain of the instance.
  StandingRequests(const RouterOptions& options, const AttachedSessions& sessions, Ask ask, Forget forget);

  /// A request to a shared legacy server. True if it is one of these: it is answered here, now or when the
  /// server has answered. `handshake_result` is the server's answer to initialize, JSON.
  bool take(SessionPort& port, const wire::Message& request, std::string_view handshake_result);
  /// Tells a legacy server what the session told its last instance.
  void restore(SessionPort& port, const Standing& standing);

  /// A session has attached to a shared legacy server. It has not asked for a level, so the default level
  /// counts.
  void attached(SessionId session);
  /// A session has left: the server is told what no other session wants.
  void left(SessionId session);
  /// Answers the session's requests that wait for the server with this error.
  void give_up(SessionPort& port, int code, const std::string& sentence);
  /// From now on nothing is sent to the server.
  void server_lost() { lost_ = true; }

  /// The answer to one of the requests that were sent here (Subscribe, SetLevel). Ignores all others.
  void answered(const Call& call, const wire::Message& answer);
  /// There is no such answer.
  void failed(const Call& call, int code, const std::string& sentence);

  /// How many requests of the session wait for the server.
  std::size_t waiting(SessionId session) const { return subscriptions_.waiting(session); }
  /// The sessions that are to be told about a change to this resource.
  std::vector<SessionId> subscribers(std::string_view uri) const { return subscriptions_.interested(uri); }
  /// Whether the session of a shared server wants log messages of this level.
  bool wants_log(SessionId session, LogLevel level) const { return levels_.wants(session, level); }

 private:
  void subscribe(SessionPort& port, const wire::Message& request);
  void ask_to_subscribe(const std::string& uri, Call call);
  void unsubscribe(SessionPort& port, const wire::Message& request);
  void tell_unsubscribed(const std::string& uri, SessionId on_behalf_of);
  void subscription_answered(const Call& call, const wire::Message& answer);
  void set_level(SessionPort& port, const wire::Message& request, std::string_view handshake_result);
  void tell_level(std::optional<LogLevel> level, SessionId on_behalf_of);
  void level_answered();

  const RouterOptions& options_;
  const AttachedSessions& sessions_;
  Ask ask_;
  Forget forget_;
  Subscriptions subscriptions_;
  std::deque<CallId> unsubscribes_;  // the last that were sent; most are answered
  LogLevels levels_;
  std::optional<LogLevel> level_asked_;                       // the server has not answered it yet
  std::optional<std::pair<LogLevel, SessionId>> next_level_;  // to be sent then, and for which session
  bool lost_ = false;
};

}  // namespace corral::router
