// When a server that died is started again: at once, then later and later, then no more. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/loop.h"

namespace corral::pool {

struct RestartRules {
  Clock::duration second_delay = std::chrono::milliseconds(500);  // the first restart does not wait
  Clock::duration longest_delay = std::chrono::seconds(30);
  Clock::duration stable = std::chrono::seconds(30);  // that long a life makes up for earlier deaths
  int most_deaths = 5;                                // in a row; then it is broken
  Clock::duration rest = std::chrono::minutes(1);     // after which a broken one may be tried again
};

class RestartPolicy {
 public:
  explicit RestartPolicy(RestartRules rules = {}) : rules_(rules) {}

  /// The delay before the next start; nothing = it has died too often. `lived` is how long it was ready, zero
  /// if it never was. `random` lies in [0, 1): several servers that fell together shall not rise together.
  std::optional<Clock::duration> died(Clock::duration lived, double random);
  void forgive() { deaths_ = 0; }

  int deaths() const { return deaths_; }  // in a row
  const RestartRules& rules() const { return rules_; }

 private:
  RestartRules rules_;
  int deaths_ = 0;
};

}  // namespace corral::pool
