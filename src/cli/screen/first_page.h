// What `corral` alone says on a terminal: in about ten lines what there is to keep on this machine, and the
// three commands to type next. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/screen/page.h"

namespace corral::cli {

struct FirstLook {
  std::vector<std::string> clients;  // names of those that have servers in their files
  std::size_t running_clients = 0;
  std::size_t kept = 0;     // servers in files that go through corral
  std::size_t open = 0;     // that do not yet
  std::size_t by_url = 0;   // that have no process
  std::size_t refused = 0;  // that corral cannot change
  std::size_t unreadable_files = 0;
  std::string running;  // "3 MCP servers run (12 processes, 1.2 GB)"; empty = none
  std::size_t orphans = 0;
  std::size_t other_findings = 0;  // of doctor
  std::string daemon;              // "runs: version 0.1.0, 2 sessions"; empty = none runs
  std::string trouble;             // why the processes are not known, as a sentence; empty = they are
};

void show_first_page(Page& page, const FirstLook& look);

}  // namespace corral::cli
