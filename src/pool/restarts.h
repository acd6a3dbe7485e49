// When the next instance of a slot may be started after one has died: pool/restart_policy.cc says how long to
// wait, this waits. Owned by its slot. Belongs to the loop's thread.
#pragma once

#include <random>
#include <string>

#include "base/loop.h"
#include "pool/restart_policy.h"

namespace corral::pool {

class Restarts {
 public:
  /// `random` outlives it: servers that died together should not all start at the same moment.
  Restarts(Loop& loop, RestartRules rules, std::minstd_rand& random)
      : policy_(rules), random_(random), timer_(loop) {}

  /// An instance has died that was ready for this long. False if that happened too often for another start.
  bool note_death(Clock::duration time_ready);
  int deaths() const { return policy_.deaths(); }  // in a row
  /// Earlier deaths count no longer.
  void forgive() { policy_.forgive(); }

  /// Calls `start` when the delay after the last death is over. `server` is for the log.
  void wait(const std::string& server, Task start);
  /// Calls `try_again` when a server that died too often has rested. False if it rests already.
  bool rest(Task try_again);

 private:
  RestartPolicy policy_;
  std::minstd_rand& random_;
  Clock::duration delay_{};  // before the next start
  Timer timer_;
};

}  // namespace corral::pool
