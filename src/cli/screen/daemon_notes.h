// What needs attention in the status of a daemon that works: another corral is installed than the one that
// runs, and servers of clients that nobody is attached to. Each with what to type or to write.
#pragma once

#include <string>
#include <vector>

#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {

/// A build of corral.
struct Build {
  std::string version;
  std::string date;  // YYYY-MM-DD
};

/// Of this program.
Build own_build();

/// That the daemon runs an older program than `own`, or one whose file was replaced since, and how to change
/// to the new one. Empty if it does not, or if that cannot be told.
std::string newer_program(const observe::DaemonView& daemon, const Build& own);

/// One sentence for each server whose sessions nobody is attached to.
std::vector<std::string> unattended_servers(const Overview& overview);

/// Both as paragraphs. Nothing if there is nothing to say.
void show_notes(Page& page, const Overview& overview);

}  // namespace corral::cli
