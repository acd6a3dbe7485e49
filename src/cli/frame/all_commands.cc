// Every command, in the order in which the help shows them.
#include "cli/frame/command.h"

namespace corral::cli {

std::vector<Command> all_commands() {
  return {
      run_command(),         connect_command(),  tools_command(),   call_command(),    session_command(),
      serve_command(),       ps_command(),       top_command(),     info_command(),    logs_command(),
      events_command(),      status_command(),   restart_command(), stop_command(),    start_command(),
      reload_command(),      shutdown_command(), url_command(),     service_command(), token_command(),
      config_command(),      add_command(),      remove_command(),  import_command(),  doctor_command(),
      who_command(),         reap_command(),     watch_command(),   guard_command(),   mcp_command(),
      completions_command(), man_command(),
  };
}

}  // namespace corral::cli
