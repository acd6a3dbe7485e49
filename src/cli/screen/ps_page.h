// The output of `corral ps` for people: a table, or trees with their sessions. Pure.
#pragma once

#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {

struct PsView {
  bool verbose = false;  // also why each process is shared or private, for which clients, and its old code
  bool hint = false;     // ends with the command that says so
};

/// The daemon itself, in a paragraph.
void show_daemon(Page& page, const Overview& overview);

/// One row for each server, with --verbose for each of its processes and each state of its sessions without
/// one; below them the servers that refuse calls and those that failed lately. No line is wider than the
/// page: on a narrow one the least important columns are left out.
void show_process_table(Page& page, const Overview& overview, const PsView& view = {});

/// Each instance with its processes and sessions; then each client with its servers.
void show_process_trees(Page& page, const Overview& overview);

}  // namespace corral::cli
