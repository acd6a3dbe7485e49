// What a server may still be working on, or write about, although no client waits for it: calls that were
// given up, calls that were answered a moment ago, and work that was started by sessions that have left. The
// router uses it for its sessions, a modern HTTP session for its requests. Pure: the caller passes the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>

#include "base/id.h"
#include "base/loop.h"
#include "wire/attribution.h"

namespace corral::router {

/// Which calls may cause a log line: any, or (modern) only those that asked for logs.
enum class Causes : std::uint8_t { AnyCall, CallsThatWantLogs };
/// Whether a call asked for log messages (modern).
enum class Logs : std::uint8_t { Unwanted, Wanted };

/// `Work` is the id of a call on the server's side, `Cause` the id of the session or request for which the
/// server works. Ids of both kinds only grow.
template <class Work, class Cause>
class LingeringWork {
 public:
  /// `cause`: none = it was a request of corral itself, or the server was not working on it.
  void given_up(Work work, Cause cause, Logs logs, Clock::time_point now) {
    while (!works_.empty() && !wire::may_still_work(works_.begin()->second.when, now) &&
           works_.size() >= kMostWorks) {
      works_.erase(works_.begin());
    }
    works_.emplace(work, GivenUp{cause, logs, now});
    if (works_.size() <= kMostWorks) return;
    const auto oldest = works_.begin();
    if (oldest->second.cause) forgot(oldest->second.when + wire::kStillWorks);
    works_.erase(oldest);
  }

  /// The answer came after all: from now on the call counts as answered. False if no such call was given up,
  /// or too long ago.
  bool answered(Work work, Clock::time_point now) {
    const auto found = works_.find(work);
    if (found == works_.end()) return false;
    const Cause cause = found->second.cause;
    works_.erase(found);
    call_answered(cause, now);
    return true;
  }

  /// The session has left; the server may still be working for it.
  void left(Cause cause, Clock::time_point now) {
    while (!left_.empty() && !wire::may_still_work(left_.front().when, now)) left_.pop_front();
    left_.push_back({cause, now});
    if (left_.size() <= kMostCauses) return;
    forgot(left_.front().when + wire::kStillWorks);
    left_.pop_front();
  }

  /// One of the calls of `cause` was answered. A modern server sends no log message about a call after its
  /// answer.
  void call_answered(Cause cause, Clock::time_point now) {
    if (!cause) return;
    if (answered_.size() >= kMostCauses && !answered_.contains(cause)) {
      sweep(now);
      if (answered_.size() >= kMostCauses) return forgot(now + wire::kStillTalks);
    }
    answered_[cause] = now;
  }

  /// Adds everything here that may be the cause of a message that arrives now.
  void add_to(wire::PossibleCauses<Cause>& causes, Causes which, Clock::time_point now) const {
    if (now < unknown_until_) causes.add_unknown();
    for (const auto& [work, one] : works_) {
      if (causes.several()) return;
      const bool may_cause = one.cause && (which == Causes::AnyCall || one.logs == Logs::Wanted);
      if (may_cause && wire::may_still_work(one.when, now)) causes.add(one.cause);
    }
    if (which == Causes::CallsThatWantLogs) return;  // work that did not ask for logs causes none
    for (const auto& [cause, when] : answered_) {
      if (causes.several()) return;
      if (wire::may_still_talk(when, now)) causes.add(cause);
    }
    for (const Left& one : left_) {
      if (wire::may_still_work(one.when, now)) causes.add(one.cause);
    }
  }

 private:
  struct GivenUp {
    Cause cause;
    Logs logs;
    Clock::time_point when;
  };
  struct Left {
    Cause cause;
    Clock::time_point when;
  };
  static constexpr std::size_t kMostWorks = 4096;
  static constexpr std::size_t kMostCauses = 1024;

  /// Goes through all of them, so it is not done for every answer of a fast server.
  void sweep(Clock::time_point now) {
    if (now < next_sweep_) return;
    next_sweep_ = now + wire::kStillTalks / 8;
    std::erase_if(answered_, [now](const auto& one) { return !wire::may_still_talk(one.second, now); });
  }
  void forgot(Clock::time_point until) { unknown_until_ = std::max(unknown_until_, until); }

  std::map<Work, GivenUp> works_;
  std::deque<Left> left_;                                  // in the order of time
  std::unordered_map<Cause, Clock::time_point> answered_;  // when last
  Clock::time_point next_sweep_ = Clock::time_point::min();
  // Causes that were forgotten to stay within the limits count as one unknown cause until this time.
  // Otherwise a session could make corral forget another session, and get its log messages.
  Clock::time_point unknown_until_ = Clock::time_point::min();
};

}  // namespace corral::router
