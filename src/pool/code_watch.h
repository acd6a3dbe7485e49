// Checks from time to time whether the files of running servers have changed on disk, and tells the slot,
// which decides what follows.
//
// Owned by the pool and called on the loop's thread. A slot may end its instance when it is told; the
// sessions of that instance may then call the pool before `look` or `look_at` returns.
#pragma once

#include <functional>

#include "base/loop.h"
#include "instance/instance.h"
#include "knowledge/fingerprint.h"

namespace corral::pool {

class Slot;
class Slots;

class CodeWatch {
 public:
  /// Returns the files that an open instance was started from.
  using BuildOf = std::function<knowledge::Fingerprint(const instance::Instance&)>;

  /// `slots` outlives it.
  CodeWatch(Loop& loop, Slots& slots);

  /// For tests, whose instances have no process.
  void learn_builds_with(BuildOf build_of) { build_of_ = std::move(build_of); }
  /// Starts the periodic check, and returns the files that this instance was started from.
  knowledge::Fingerprint watch(const instance::Instance& instance);
  /// Checks all slots now.
  void look();
  void look_at(Slot& slot);

 private:
  void look_later();

  Slots& slots_;
  BuildOf build_of_;
  Timer timer_;  // runs while there are instances
};

}  // namespace corral::pool
