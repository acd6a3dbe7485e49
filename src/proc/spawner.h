// The seam between "start this server" and how an operating system holds a process tree. The keeper is the
// Linux answer; a Job Object would be the one of Windows. Tests put faults in here.
#pragma once

#include "base/result.h"
#include "proc/launch_spec.h"
#include "proc/process_tree.h"

namespace corral::proc {

class Spawner {
 public:
  virtual ~Spawner() = default;

  /// Returns when the keeper runs, not when the server does: the tree's first event tells how that went.
  virtual Result<ProcessTree> spawn(const LaunchSpec& spec) = 0;
};

}  // namespace corral::proc
