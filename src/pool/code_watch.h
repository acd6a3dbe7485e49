// Looks now and then whether the files of running servers have changed on disk. A slot whose files have
// changed is told so; what follows is the slot's affair.
//
// Owned by the pool. A slot that is told may end its instance, and the sessions of it may call the pool.
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
  /// Which files an open instance was started from.
  using BuildOf = std::function<knowledge::Fingerprint(const instance::Instance&)>;

  /// `slots` outlives it.
  CodeWatch(Loop& loop, Slots& slots);

  /// For tests: instances that have no process.
  void learn_builds_with(BuildOf build_of) { build_of_ = std::move(build_of); }
  /// From now on the files of running servers are looked at. Returns those of this one.
  knowledge::Fingerprint watch(const instance::Instance& instance);
  /// At all of them now.
  void look();
  void look_at(Slot& slot);

 private:
  void look_later();

  Slots& slots_;
  BuildOf build_of_;
  Timer timer_;  // while there are instances
};

}  // namespace corral::pool
