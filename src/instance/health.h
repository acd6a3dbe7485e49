// Finds out whether a server that sends nothing still responds. Pure: the caller passes the time, and carries
// out the advice. Only a server without open calls is asked, because one that works on a call may be too busy
// to answer.
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
    Ask,       // send a ping
    AskAgain,  // it did not answer: it is unhealthy, send another ping
    Hung,      // it did not answer the second one either
  };
  struct Verdict {
    Advice advice;
    Clock::duration next;  // the time until the next look
  };

  /// Whether this server has ever answered a ping; if not, silence proves nothing.
  enum class Pings : std::uint8_t { NeverAnswered, Answered };
  struct Activity {
    bool busy = false;       // it works on a call
    std::uint64_t said = 0;  // how many messages of any kind it has sent so far
  };

  /// `interval` is how long the server may be silent before it is asked.
  Health(Clock::duration interval, Pings pings, Clock::time_point now);

  Verdict look(Clock::time_point now, const Activity& activity);
  void answered() { proven_ = true; }

  bool proven() const { return proven_; }
  bool asking() const { return asked_.has_value(); }
  bool unhealthy() const { return misses_ > 0; }

 private:
  Verdict wait(Clock::time_point now, Clock::duration time);
  Verdict judge_silence(Clock::time_point now);

  Clock::duration interval_;
  Clock::duration patience_;  // for the answer to one ping
  Clock::time_point due_;     // when the next look should happen
  std::optional<Clock::time_point> asked_;
  std::uint64_t said_ = 0;
  int misses_ = 0;
  bool proven_;
};

}  // namespace corral::instance
