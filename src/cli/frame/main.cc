// main(): repairs the standard descriptors, then runs the command line.
#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/first_look.h"
#include "cli/frame/command.h"
#include "cli/frame/parser.h"

namespace {

struct MissingFds {
  bool in = false;
  bool out = false;
};

/// Opens /dev/null for missing descriptors among 0-2 before anything else is opened, because the next file
/// would get such a number. Returns which were missing.
MissingFds fill_standard_fds() {
  MissingFds missing;
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
    missing.in |= fd == STDIN_FILENO;
    missing.out |= fd == STDOUT_FILENO;
  }
  return missing;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace corral::cli;
  const MissingFds missing = fill_standard_fds();
  const bool needs_input =
      argc > 1 && (std::string_view(argv[1]) == "run" || std::string_view(argv[1]) == "connect" ||
                   std::string_view(argv[1]) == "mcp");  // a session needs stdin
  if (missing.out || (missing.in && needs_input)) {
    std::cerr << "corral: " << (missing.in && needs_input ? "stdin" : "stdout")
              << " is closed: connect it to the client or to /dev/null\n";
    return 125;
  }
  if (argc == 1 && isatty(STDOUT_FILENO) == 1) return say_first();
  return parse_and_run(all_commands(), std::vector<std::string>(argv + 1, argv + argc));
}
