// The process trees that a keeper has to be able to end. Each kind is one way in which real programs,
// by accident or on purpose, leave the process group, the session, the descriptors or the environment
// that they were given.
#pragma once

#include <string>

#include "adversary_options.h"

namespace corral::fakes {

// Builds "kind:count" and returns when every process is in place, or false if the kind is
// unknown or fork failed.
//   flat, tree, chain   plain processes: children of one parent, ternary, one below the other
//   groups              each in a process group of its own
//   daemons             double fork, setsid, ignore TERM HUP INT
//   closed              daemons that close every descriptor
//   stopped             daemons that stop themselves
//   bare                daemons that exec with an empty environment
//   hoppers             fork and let the parent exit, for ever: the pid changes all the time
//   session-hoppers     hoppers that call setsid on every hop
//   mixed               all of the above daemons and groups in turn, and 8 hoppers
//   holder              daemons that keep stdout open (and nothing else)
//   setuid              children that exec the set-uid copy and become its owner
bool grow(const AdversaryOptions& options, const std::string& kind_and_count);

// The body of a process that was started again with --helper.
[[noreturn]] void run_helper(const AdversaryOptions& options);

}  // namespace corral::fakes
