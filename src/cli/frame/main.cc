#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/parser.h"
#include "cli/frame/standard_fds.h"

int main(int argc, char** argv) {
  using namespace corral::cli;
  const MissingFds missing = fill_standard_fds();
  const bool needs_input =
      argc > 1 && (std::string_view(argv[1]) == "run" || std::string_view(argv[1]) == "connect" ||
                   std::string_view(argv[1]) == "mcp");  // a session over nothing
  if (missing.out || (missing.in && needs_input)) {
    std::cerr << "corral: " << (missing.in && needs_input ? "stdin" : "stdout")
              << " is closed: start corral with both connected, to the client or to /dev/null\n";
    return 125;
  }
  return parse_and_run(all_commands(), std::vector<std::string>(argv + 1, argv + argc));
}
