// Terminators end work that runs elsewhere: a command from the user, or the removal of a container. The
// process that ended the tree runs them afterwards, so they also run when corral was killed.
#pragma once

#include "keeper/plan.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::keeper {

/// Runs the terminators of the plan one after another. At its time limit a terminator is killed with
/// everything it started. The caller must be a subreaper that blocks SIGCHLD; `sweep` knows which of its
/// children must not be signalled. Blocks.
void run_terminators(const Plan& plan, Sweep& sweep, Report& report);

}  // namespace corral::keeper
