// What a keeper that was killed can no longer do: run the terminators of its plan.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "proc/process_tree.h"

namespace corral::instance {

/// Runs them in a child of ours, because they may take their time. 0 = there are none.
pid_t run_terminators_of(const proc::ProcessTree& tree);

/// The same for the container of an instance of which only its record is left. It exits with 0 if nothing of
/// it is left.
pid_t remove_container(const std::vector<std::string>& removal, const std::string& instance);

}  // namespace corral::instance
