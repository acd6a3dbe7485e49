// The time limits of calls: one timer, for the nearest deadline. A server whose calls have no deadline, or
// one in an hour, causes no wake-up.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "base/loop.h"

namespace corral::router {

class Deadlines {
 public:
  /// Gives up the calls whose time is over and returns the next deadline; Clock::time_point::max() = none.
  using Expire = std::function<Clock::time_point()>;

  Deadlines(Loop& loop, Expire expire) : timer_(loop), expire_(std::move(expire)) {}

  /// A call has this deadline. Deadlines only move to a later time: a look that comes too early finds nothing
  /// and starts the timer again, so answers and progress are not reported here.
  void watch(Clock::time_point deadline) {
    if (deadline == Clock::time_point::max() || (timer_.running() && next_look_ <= deadline)) return;
    next_look_ = deadline;
    timer_.start(std::max(deadline - Clock::now(), Clock::duration::zero()), [this] { watch(expire_()); });
  }
  /// No call is left.
  void cancel() { timer_.cancel(); }

 private:
  Timer timer_;
  Expire expire_;
  Clock::time_point next_look_ = Clock::time_point::max();
};

}  // namespace corral::router
