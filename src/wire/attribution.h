// Decides which session, or which open request, a server's message without an id belongs to. This is the only
// place that decides it. The rule: a message belongs to the only possible cause; with several possible causes
// it belongs to none. It is never given to the newest, the likeliest or all of them, because two windows of
// one user may belong to two customers. (What a server writes to stderr before its first request has no
// cause; the router shows it to all of its sessions.) Pure. The caller adds everything that may be the cause,
// and decides what to do with a message without a cause (drop and count it).
#pragma once

#include <chrono>
#include <optional>

#include "base/loop.h"

namespace corral::wire {

/// A server may go on working for a call that was abandoned or for a session that has left. It stays a
/// possible cause for this long, or until its answer arrives.
inline constexpr std::chrono::minutes kStillWorks{1};

inline bool may_still_work(Clock::time_point given_up, Clock::time_point now) {
  return now - given_up < kStillWorks;
}

/// A server may write about a call after it has answered it: a last line in its log, or stderr, which is a
/// different pipe and may be read later than the answer.
inline constexpr std::chrono::seconds kStillTalks{2};

inline bool may_still_talk(Clock::time_point answered, Clock::time_point now) {
  return now - answered < kStillTalks;
}

/// Collects the possible causes of one message. `Cause` must be an id that is never reused, not an address.
template <class Cause>
class PossibleCauses {
 public:
  void add(Cause cause) {
    if (!one_) {
      one_ = cause;
    } else if (*one_ != cause) {
      several_ = true;
    }
  }

  /// Another cause, which is no longer known.
  void add_unknown() { several_ = true; }

  bool none() const { return !one_ && !several_; }
  bool several() const { return several_; }
  /// The rule: the cause if there is exactly one.
  std::optional<Cause> only() const { return several_ ? std::nullopt : one_; }

 private:
  std::optional<Cause> one_;
  bool several_ = false;
};

}  // namespace corral::wire
