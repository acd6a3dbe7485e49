// The calls that wait for an answer of one instance. Pure: no clock, no pipe. Every call leaves exactly once:
// by its answer, its cancellation, its deadline, or the loss of the instance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/loop.h"
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
  SessionPort* port = nullptr;  // null = our own question
  std::string id{};             // as the client wrote it
  std::string token{};          // the client's progress token, as it wrote it; empty = none
  Purpose purpose = Purpose::Forward;
  std::string uri{};               // Subscribe, Unsubscribe
  std::optional<ListKind> list{};  // the answer is the first page of it
  std::string listens_to{};        // Listen: its filter, JSON
  SessionId compared_for = 0;      // CompareList of a modern server
  Clock::time_point deadline = Clock::time_point::max();
  Clock::duration patience{};  // progress begins it anew
  bool wants_log = false;      // modern: the request set a log level
  bool unsubscribes = false;   // from `uri`
};

class PendingCalls {
 public:
  /// False if the session has a call with this id already.
  bool add(std::uint64_t up_id, Call call);
  Call* find(std::uint64_t up_id);
  std::optional<std::uint64_t> find(const SessionPort* port, std::string_view id) const;

  /// The answer came.
  std::optional<Call> take(std::uint64_t up_id);
  /// Nobody waits any more, but an answer may still come and must not surprise anyone.
  std::optional<Call> cancel(std::uint64_t up_id, Clock::time_point now);
  /// True if this answer was expected by somebody who has given up; asked once per answer.
  bool was_cancelled(std::uint64_t up_id);

  std::vector<std::uint64_t> of(const SessionPort* port) const;
  std::vector<std::uint64_t> all() const;
  std::vector<std::uint64_t> expired(Clock::time_point now) const;

  std::size_t size() const { return calls_.size(); }
  std::size_t count(const SessionPort* port) const;
  /// Without listens: nobody waits for the end of those, they go on until somebody ends them. And without
  /// what only we want to know.
  std::size_t awaited() const;
  std::size_t awaited(const SessionPort* port) const;
  std::size_t listens() const;
  /// Whether a server may still be at work on a call that another session has given up: for a minute.
  bool others_linger(const SessionPort* port, Clock::time_point now) const;
  /// The only session with a call in flight that may cause a log line; null if there are none or several.
  enum class Causes { AnyCall, CallsThatWantLogs };
  SessionPort* only_caller(Causes causes) const;

 private:
  static constexpr std::size_t kMostTombstones = 4096;

  void forget(const Call& call);

  std::unordered_map<std::uint64_t, Call> calls_;
  std::unordered_map<const SessionPort*, std::unordered_map<std::string, std::uint64_t>> by_client_;
  struct Tombstone {
    const SessionPort* port;  // may be gone: only compared
    Clock::time_point cancelled;
  };
  std::map<std::uint64_t, Tombstone> tombstones_;  // ordered by age, since ids only grow
};

}  // namespace corral::router
