#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/parser.h"
#include "cli/standard_fds.h"

int main(int argc, char** argv) {
  using namespace corral::cli;
  const MissingFds missing = fill_standard_fds();
  const bool needs_input = argc > 1 && (std::string_view(argv[1]) == "run" ||
                                        std::string_view(argv[1]) == "connect");  // a session over nothing
  if (missing.out || (missing.in && needs_input)) {
    std::cerr << "corral: " << (missing.in && needs_input ? "stdin" : "stdout")
              << " is closed: start corral with both connected, to the client or to /dev/null\n";
    return 125;
  }
  return parse_and_run(
      {run_command(),    connect_command(),  tools_command(),   call_command(),    session_command(),
       serve_command(),  status_command(),   restart_command(), stop_command(),    start_command(),
       reload_command(), shutdown_command(), url_command(),     service_command(), token_command(),
       config_command(), add_command(),      remove_command(),  import_command(),  doctor_command(),
       who_command(),    reap_command(),     watch_command(),   guard_command()},
      std::vector<std::string>(argv + 1, argv + argc));
}
