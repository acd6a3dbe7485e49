// Whether a server that says nothing still lives. Pure: told the time, it says what to do. Only a server that
// nobody waits for is asked: one that works on a call may be too busy to answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/loop.h"

namespace corral::instance {

class Health {
 public:
  enum class Advice : std::uint8_t {
    Wait,
    Ask,       // whether it lives
    AskAgain,  // it did not answer: unhealthy
    Hung,      // nor did it the second time
  };
  struct Look {
    Advice advice;
    Clock::duration next;  // look again after that
  };

  /// `interval`: of silence, before it is asked. `proven`: this server has answered such a question before;
  /// silence is held against nobody who never does.
  Health(Clock::duration interval, bool proven, Clock::time_point now);

  /// `said` is how many messages have come from it so far, of any kind.
  Look look(Clock::time_point now, bool busy, std::uint64_t said);
  void answered() { proven_ = true; }

  bool proven() const { return proven_; }
  bool asking() const { return asked_.has_value(); }
  bool unhealthy() const { return misses_ > 0; }

 private:
  Look wait(Clock::time_point now, Clock::duration time);
  Look judge_silence(Clock::time_point now);

  Clock::duration interval_;
  Clock::duration patience_;  // with one question
  Clock::time_point due_;     // when the next look is to be
  std::optional<Clock::time_point> asked_;
  std::uint64_t said_ = 0;
  int misses_ = 0;
  bool proven_;
};

}  // namespace corral::instance
