// `corral status`: what `corral ps` shows, below a paragraph about the daemon; as JSON everything that the
// daemon tells.
#include <unistd.h>

#include <iostream>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/screen/ps_page.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral status
  corral status --json | jq '.instances[] | {server, share, reason}'

The text is that of `corral ps`, which has more options, below a paragraph about the daemon; `corral ps -v` says more.
Exit code: 0 if a daemon answers, 1 if none is running, 125 if it does not answer. docs/operations/daemon.md describes the JSON.)";

void show(const boost::json::value& answer, const DaemonOptions&) {
  const Overview overview = read_overview(answer);
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_daemon(page, overview);
  page.blank();
  show_process_table(page, overview, {.verbose = false, .hint = isatty(STDOUT_FILENO) == 1});
}

}  // namespace

Command status_command() {
  return daemon_command(
      {.name = "status",
       .summary = "Show the daemon, and what it runs as in `corral ps`; as JSON everything.",
       .examples = kExamples,
       .json_help = "Print JSON with all details",
       .hello = control::status_hello(),
       .measures_for_people = true,
       .show = show});
}

}  // namespace corral::cli
