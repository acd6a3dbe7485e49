// Ends what an earlier daemon of this user has left behind, using proof only: the identity in the registry,
// the cgroup with its random name, and the cookie and rlimit tag that every process of an instance inherits.
// Never by name, by command line, or by pid and start time alone; in any doubt a process is left alone and
// reported. Blocking and bounded; may be called on any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "reap/end_trees.h"
#include "registry/registry.h"

namespace corral::reap {

/// One process that was examined.
struct Remnant {
  std::string server;
  std::string instance;
  Outcome outcome;
  std::string text;  // one line: noun, cause, and what was done or what to do
};

struct Remnants {
  /// Nothing of that daemon can be left, so its records may be deleted.
  bool settled = false;
  std::vector<Remnant> processes;  // in the order in which they were ended, oldest first
  std::string
      why;  // why nothing was done ("the daemon that started them is still running"); empty = something was
};

struct RemnantRules {
  Graces graces{};
  /// How long a running keeper may take to end its tree before it is killed as well.
  std::chrono::milliseconds keepers{5000};
};

/// Ends everything that belongs to the records of a daemon that is not running any more.
Remnants end_remnants(const registry::Unfinished& unfinished, const RemnantRules& rules = {});

/// The same for one instance of a running daemon, which must be the caller. Does nothing, and says why, if
/// the keeper of that instance is alive.
Remnants end_instance(const registry::DaemonRecord& self, const registry::InstanceRecord& instance,
                      const RemnantRules& rules = {});

}  // namespace corral::reap
