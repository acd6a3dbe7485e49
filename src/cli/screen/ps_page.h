// `corral ps` for people: what the daemon runs as a table, or as trees with the sessions below them. Pure.
#pragma once

#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {

/// One row per instance, and one per server and state of sessions that have none. On a narrow page the reason
/// and what else has no room stand below the row.
void show_process_table(Page& page, const Overview& overview);

/// Each instance with its processes and the sessions that they serve; then each client with what serves it.
void show_process_trees(Page& page, const Overview& overview);

}  // namespace corral::cli
