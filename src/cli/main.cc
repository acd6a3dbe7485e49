#include <iostream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/parser.h"
#include "cli/standard_fds.h"

int main(int argc, char** argv) {
  using namespace corral::cli;
  const int missing = fill_standard_fds();
  if (missing >= 0) {
    std::cerr << "corral: " << (missing == 0 ? "stdin" : "stdout")
              << " is closed: start corral with both connected, to the client or to /dev/null\n";
    return 125;
  }
  return parse_and_run(
      {run_command(), doctor_command(), who_command(), reap_command(), watch_command(), guard_command()},
      std::vector<std::string>(argv + 1, argv + argc));
}
