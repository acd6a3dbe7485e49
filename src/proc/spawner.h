// The interface between "start this server" and how an operating system holds a process tree. On Linux that
// is the keeper; on Windows it would be a Job Object. Tests inject faults here.
#pragma once

#include "base/result.h"
#include "proc/launch_spec.h"
#include "proc/process_tree.h"

namespace corral::proc {

class Spawner {
 public:
  virtual ~Spawner() = default;

  /// Returns when the keeper runs, not when the server does: the first event of the tree says whether the
  /// server started.
  virtual Result<ProcessTree> spawn(const LaunchSpec& spec) = 0;
};

}  // namespace corral::proc
