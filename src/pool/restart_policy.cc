#include "pool/restart_policy.h"

#include <algorithm>

namespace corral::pool {

std::optional<Clock::duration> RestartPolicy::died(Clock::duration lived, double random) {
  if (lived >= rules_.stable) deaths_ = 0;
  ++deaths_;
  if (deaths_ >= rules_.most_deaths) return std::nullopt;
  if (deaths_ == 1) return Clock::duration::zero();
  Clock::duration delay = rules_.second_delay;
  for (int death = 2; death < deaths_ && delay < rules_.longest_delay; ++death) delay *= 2;
  delay = std::min(delay, rules_.longest_delay);
  // Half of the delay is fixed, half is random.
  return delay / 2 + std::chrono::duration_cast<Clock::duration>(delay / 2 * random);
}

}  // namespace corral::pool
