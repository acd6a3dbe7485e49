// Waits between the death of an instance and the next start; pool/restart_policy.cc decides for how long.
// Owned by its slot, used on the loop's thread. The tasks are not called after its destruction.
#pragma once

#include <random>
#include <string>

#include "base/loop.h"
#include "pool/restart_policy.h"

namespace corral::pool {

class Restarts {
 public:
  /// `random` outlives it.
  Restarts(Loop& loop, RestartRules rules, std::minstd_rand& random)
      : policy_(rules), random_(random), timer_(loop) {}

  /// An instance died after it was ready for this long. False if instances died too often for another start.
  bool note_death(Clock::duration time_ready);
  int deaths() const { return policy_.deaths(); }  // in a row
  /// Earlier deaths do not count any more.
  void forgive() { policy_.forgive(); }

  /// Calls `start` when the delay after the last death is over. `server` is for the log.
  void wait(const std::string& server, Task start);
  /// Calls `try_again` after the pause of a server that died too often. False if the pause has already begun.
  bool rest(Task try_again);

 private:
  RestartPolicy policy_;
  std::minstd_rand& random_;
  Clock::duration delay_{};  // before the next start
  Timer timer_;
};

}  // namespace corral::pool
