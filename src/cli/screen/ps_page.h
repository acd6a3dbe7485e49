// The output of `corral ps` for people: a table, or trees with their sessions. Pure.
#pragma once

#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {

/// One row for each instance, and one for each server and state of sessions without an instance. On a narrow
/// page, what does not fit is printed under the row.
void show_process_table(Page& page, const Overview& overview);

/// Each instance with its processes and sessions; then each client with its servers.
void show_process_trees(Page& page, const Overview& overview);

}  // namespace corral::cli
