// Ends what an earlier daemon of ours has left behind, by proof alone: by the identity that the registry
// recorded, by the cgroup that is ours by its random name, and by the cookie and the rlimit tag that every
// process of an instance inherits. Never by name, by command line, or by number and start time alone; any
// doubt leaves a process alone and says so. Blocking and bounded; any thread may call.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "reap/end_trees.h"
#include "registry/registry.h"

namespace corral::reap {

/// One process that was looked at.
struct Remnant {
  std::string server;
  std::string instance;
  Outcome outcome;
  std::string text;  // one line for people: noun, cause, what was done or what to do
};

struct Remnants {
  /// Nothing of that daemon can be left: its records may be forgotten.
  bool settled = false;
  std::vector<Remnant> processes;  // in the order in which they were ended: oldest first
  std::string why;  // why nothing was done ("the daemon that started them lives"); empty = it was
};

struct RemnantRules {
  Graces graces{};
  /// How long a keeper that lives may take to end its tree itself, before it is ended with it.
  std::chrono::milliseconds keepers{5000};
};

Remnants end_remnants(const registry::Unfinished& unfinished, const RemnantRules& rules = {});

/// The same for one instance of a daemon that lives, which is the caller. Only if its keeper is gone: what a
/// living keeper holds is left alone, with the reason.
Remnants end_instance(const registry::DaemonRecord& self, const registry::InstanceRecord& instance,
                      const RemnantRules& rules = {});

}  // namespace corral::reap
