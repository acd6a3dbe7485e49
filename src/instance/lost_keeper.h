// Runs the terminators of a plan in place of a keeper that was killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "proc/process_tree.h"

namespace corral::instance {

/// Runs them in a child process, because they may be slow, and returns its pid; 0 = the plan has none. The
/// caller reaps the child.
pid_t run_terminators_of(const proc::ProcessTree& tree);

/// The same for the container of an instance of an earlier daemon, of which only the record is left:
/// `removal` is the recorded command. The child exits with 0 if nothing of the container is left.
pid_t remove_container(const std::vector<std::string>& removal, const std::string& instance);

}  // namespace corral::instance
