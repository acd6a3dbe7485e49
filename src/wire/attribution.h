// Which session, or which open request, a server's message without an id belongs to. This is the only place
// that decides it, and this is the rule: the one that alone can have caused the message, or nobody. A message
// is never given to the newest, the likeliest or all of them: two windows of one user may belong to two
// customers. (What a server writes to stderr before anybody has asked it something has no cause and is about
// nobody; the router shows it to all of its sessions.) Pure. The caller names everything that may be the
// cause; what to do with a message of nobody (drop and count it) is up to the caller.
#pragma once

#include <chrono>
#include <optional>

#include "base/loop.h"

namespace corral::wire {

/// A server may go on working for a call that was given up, or for a session that has left. For so long it
/// stays a possible cause; its answer, if one comes, ends that.
inline constexpr std::chrono::minutes kStillWorks{1};

inline bool may_still_work(Clock::time_point given_up, Clock::time_point now) {
  return now - given_up < kStillWorks;
}

/// A server may write about a call when it has answered it: a last line of its log, or stderr, which is
/// another pipe than the answer's and is read later.
inline constexpr std::chrono::seconds kStillTalks{2};

inline bool may_still_talk(Clock::time_point answered, Clock::time_point now) {
  return now - answered < kStillTalks;
}

/// `Cause` is an id that is never given twice, never an address.
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

  /// Somebody else, who is not known any more.
  void add_unknown() { several_ = true; }

  bool none() const { return !one_ && !several_; }
  bool several() const { return several_; }
  /// The rule.
  std::optional<Cause> only() const { return several_ ? std::nullopt : one_; }

 private:
  std::optional<Cause> one_;
  bool several_ = false;
};

}  // namespace corral::wire
