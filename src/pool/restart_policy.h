// When a server that died is started again: at once the first time, then after longer and longer delays, then
// not at all. Pure; the caller passes the time and the random number.
#pragma once

#include <chrono>
#include <optional>

#include "base/loop.h"

namespace corral::pool {

struct RestartRules {
  Clock::duration second_delay = std::chrono::milliseconds(500);  // the first restart does not wait
  Clock::duration longest_delay = std::chrono::seconds(30);
  Clock::duration stable =
      std::chrono::seconds(30);  // an instance that was ready for this long cancels earlier deaths
  int most_deaths = 5;           // in a row; then the slot is broken
  Clock::duration rest = std::chrono::minutes(1);  // after which a broken slot may try again
};

class RestartPolicy {
 public:
  explicit RestartPolicy(RestartRules rules = {}) : rules_(rules) {}

  /// An instance died. Returns the delay before the next start; nothing = it died too often. `lived` is how
  /// long it was ready, zero if it never was. `random` is in [0, 1): servers that died together should not
  /// all start at the same moment.
  std::optional<Clock::duration> died(Clock::duration lived, double random);
  void forgive() { deaths_ = 0; }

  int deaths() const { return deaths_; }  // in a row
  const RestartRules& rules() const { return rules_; }

 private:
  RestartRules rules_;
  int deaths_ = 0;
};

}  // namespace corral::pool
