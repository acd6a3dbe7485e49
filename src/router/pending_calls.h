// The calls that wait for an answer of one instance. Every call leaves exactly once: by its answer, its
// cancellation, its deadline, or the loss of the instance. Pure: the caller passes the time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/loop.h"
#include "router/lingering_work.h"
#include "router/session_port.h"

namespace corral::router {

/// What the answer is for, if it is not only passed on.
enum class Purpose : std::uint8_t {
  Forward,
  ListTools,
  ListMoreTools,  // a further page
  Listen,
  ListenForAll,  // corral's own, for legacy clients
  Subscribe,
  Unsubscribe,
  SetLevel,
  ConfirmTools,
  CompareList,  // whether a new instance lists something else
  Probe,        // whether the server still answers
};

struct Call {
  SessionId session{};  // none = a request of corral itself
  std::string id{};     // as the client wrote it
  std::string token{};  // the client's progress token, as it wrote it; empty = none
  Purpose purpose = Purpose::Forward;
  std::string uri{};               // Subscribe, Unsubscribe
  std::optional<ListKind> list{};  // the answer is the first page of it
  std::string listens_to{};        // Listen: its filter, JSON
  SessionId on_behalf_of{};        // a request of corral itself: the session for which it is sent
  Clock::time_point deadline = Clock::time_point::max();
  Clock::duration patience{};  // after the call, and after each progress; zero = no limit
  bool wants_log = false;      // modern: the request set a log level
  bool unsubscribes = false;   // from `uri`
  bool acknowledged = false;   // Listen: from now on the server only waits
  Account::Held request{};     // its share of the principal's open requests
  Account::Held bytes{};       // and of the bytes that may be kept
};

/// Sends a request of corral itself to the server and returns its id. This is how a part of the router asks
/// the server.
using Ask = std::function<CallId(std::string_view method, std::string_view params, Call call)>;
/// Stops waiting for the answer to such a request. The server is not told.
using Forget = std::function<void(CallId id)>;

class PendingCalls {
 public:
  /// False if the session has a call with this id already.
  bool add(CallId up_id, Call call);
  Call* find(CallId up_id);
  std::optional<CallId> find(SessionId session, std::string_view id) const;

  /// The server has answered. Nothing if the call is not here.
  std::optional<Call> answered(CallId up_id, Clock::time_point now);
  /// The call is answered in another way, and no answer of the server can follow.
  std::optional<Call> take(CallId up_id);
  /// No client waits any more, but the server may still answer; `was_cancelled` recognises that answer.
  std::optional<Call> cancel(CallId up_id, Clock::time_point now);
  /// Whether this is the answer to a call that was cancelled. Ask once for each answer.
  bool was_cancelled(CallId up_id, Clock::time_point now) { return lingering_.answered(up_id, now); }
  /// Call it after the calls of the session were cancelled.
  void session_left(SessionId session, Clock::time_point now);

  std::vector<CallId> of(SessionId session) const;
  std::vector<CallId> all() const;
  std::vector<CallId> expired(Clock::time_point now) const;
  /// Clock::time_point::max() if no call has a deadline.
  Clock::time_point next_deadline() const;

  std::size_t size() const { return calls_.size(); }
  std::size_t count(SessionId session) const;
  /// Without listens, which stay open until the client or the server ends them, and without requests of
  /// corral that no session waits for.
  std::size_t awaited() const;
  std::size_t awaited(SessionId session) const;
  std::size_t listens() const;
  /// The sessions for which the server may be working.
  wire::PossibleCauses<SessionId> causes(Causes which, Clock::time_point now) const;

 private:
  void forget(const Call& call);

  std::unordered_map<CallId, Call> calls_;
  std::unordered_map<SessionId, std::unordered_map<std::string, CallId>> by_session_;
  LingeringWork<CallId, SessionId> lingering_;
};

}  // namespace corral::router
