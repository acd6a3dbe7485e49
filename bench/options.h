// What the command line of run_bench asks for.
#pragma once

#include <string>

namespace corral::bench {

struct Options {
  std::string corral;           // default: beside this program
  std::string echo_server;      // default: beside this program
  std::string ideal_forwarder;  // default: beside this program
  std::string peers;            // directory that peers/install filled; empty: no peers
  std::string json;             // empty: no file
  std::string only;             // empty: everything
  bool quick = false;
  bool strict_budgets = false;
  int processes = 500;  // size of the tree that is killed
  int sessions = 20;    // how many run at once for the memory measurement
};

/// Throws std::runtime_error for a bad option. --help prints and exits.
Options parse_options(int argc, char** argv);

/// True if `name` is to be measured.
bool wanted(const Options& options, const std::string& name);

}  // namespace corral::bench
