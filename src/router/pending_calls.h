// The calls that wait for an answer of one instance. Pure: no clock, no pipe. Every call leaves exactly once:
// by its answer, its cancellation, its deadline, or the loss of the instance.
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

/// What the answer is for, where it needs more than to be passed on.
enum class Purpose : std::uint8_t {
  Forward,
  ListTools,
  ListMoreTools,  // a further page
  Listen,
  ListenForAll,  // our own, for the clients that know no listen
  Subscribe,
  Unsubscribe,
  SetLevel,
  ConfirmTools,
  CompareList,  // what a new instance lists
  Probe,        // whether it lives
};

struct Call {
  SessionId session{};  // nobody = our own question
  std::string id{};     // as the client wrote it
  std::string token{};  // the client's progress token, as it wrote it; empty = none
  Purpose purpose = Purpose::Forward;
  std::string uri{};               // Subscribe, Unsubscribe
  std::optional<ListKind> list{};  // the answer is the first page of it
  std::string listens_to{};        // Listen: its filter, JSON
  SessionId on_behalf_of{};        // our own question: the session that made us ask
  Clock::time_point deadline = Clock::time_point::max();
  Clock::duration patience{};  // progress begins it anew
  bool wants_log = false;      // modern: the request set a log level
  bool unsubscribes = false;   // from `uri`
  bool acknowledged = false;   // Listen: the server only waits from then on
  Account::Held request{};     // of its principal's open requests
  Account::Held bytes{};       // and of what is kept for it
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

  /// The answer came.
  std::optional<Call> answered(CallId up_id, Clock::time_point now);
  /// It is answered otherwise.
  std::optional<Call> take(CallId up_id);
  /// Nobody waits any more, but an answer may still come and must not surprise anyone.
  std::optional<Call> cancel(CallId up_id, Clock::time_point now);
  /// True if this answer was expected by somebody who has given up; asked once per answer, whatever it says.
  bool was_cancelled(CallId up_id, Clock::time_point now) { return lingering_.answered(up_id, now); }
  /// After its calls were cancelled.
  void session_left(SessionId session, Clock::time_point now);

  std::vector<CallId> of(SessionId session) const;
  std::vector<CallId> all() const;
  std::vector<CallId> expired(Clock::time_point now) const;
  /// When the next call expires; the end of time if none ever does.
  Clock::time_point next_deadline() const;

  std::size_t size() const { return calls_.size(); }
  std::size_t count(SessionId session) const;
  /// Without listens: nobody waits for the end of those, they go on until somebody ends them. And without
  /// what only we want to know.
  std::size_t awaited() const;
  std::size_t awaited(SessionId session) const;
  std::size_t listens() const;
  /// The sessions for which the server may be at work.
  wire::PossibleCauses<SessionId> causes(Causes which, Clock::time_point now) const;

 private:
  void forget(const Call& call);

  std::unordered_map<CallId, Call> calls_;
  std::unordered_map<SessionId, std::unordered_map<std::string, CallId>> by_session_;
  LingeringWork<CallId, SessionId> lingering_;
};

}  // namespace corral::router
