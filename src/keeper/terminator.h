// Ends work that runs elsewhere: a command of the user's, or the removal of a container. Runs when the tree
// is gone, from whoever saw to that, so it also runs when corral was killed.
#pragma once

#include "keeper/plan.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::keeper {

/// Runs each terminator of the plan, one after the other, and ends it with all that it started at its time
/// limit. The caller is a subreaper that blocks SIGCHLD; `sweep` knows which of its children are not to be
/// touched.
void run_terminators(const Plan& plan, Sweep& sweep, Report& report);

}  // namespace corral::keeper
