#include "pool/restarts.h"

#include <utility>

#include "base/log.h"

namespace corral::pool {

bool Restarts::note_death(Clock::duration time_ready) {
  const auto delay = policy_.died(time_ready, std::uniform_real_distribution<double>(0, 1)(random_));
  if (!delay) return false;
  delay_ = *delay;
  return true;
}

void Restarts::wait(const std::string& server, Task start) {
  if (delay_.count() > 0) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(delay_);
    log_line("server " + server + ": the next start is in " + std::to_string(ms.count()) + " ms");
  }
  timer_.start(delay_, std::move(start));
}

bool Restarts::rest(Task try_again) {
  if (timer_.running()) return false;
  timer_.start(policy_.rules().rest, std::move(try_again));
  return true;
}

}  // namespace corral::pool
