// `corral restart`, `corral stop` and `corral start`: control one configured server of the daemon.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using control::Verb;

constexpr const char* kRestartExamples = R"(Examples:
  corral restart files
  corral restart files --json

Ends all instances of the server with their process trees; calls in flight have `corral.drain` (5 s) to finish. Sessions stay
attached and use a new instance. A server that was stopped, or that crashed too often, may start again.
Exit code: 0 when the old instances are gone; 1 if no daemon is running or a tree is not proved gone; 125 if there is no
such server.)";

constexpr const char* kStopExamples = R"(Examples:
  corral stop files

Ends all instances of the server, as `corral restart` does, but starts no new one until `corral start files`; until then every
call gets an error that says so. Sessions stay attached. The stop lasts until the daemon ends.
Exit code: 0 when the instances are gone; 1 if no daemon is running or a tree is not proved gone; 125 if there is no such
server.)";

constexpr const char* kStartExamples = R"(Examples:
  corral start files

Allows a server to run again that `corral stop` stopped or that crashed too often. If sessions are waiting for it, it starts
at once; otherwise the next call starts it.
Exit code: 0, even if it was not stopped; 1 if no daemon is running; 125 if there is no such server.)";

std::string headline(Verb verb, const std::string& server, const json::value& result) {
  const std::size_t ended = list(result, "ended").size();
  const std::string gone = ended == 0 ? "no instance was running" : counted(ended, "instance") + " ended";
  switch (verb) {
    case Verb::Restart:
      return server + ": " + gone +
             (ended == 0             ? "; the next call starts one"
              : has_sessions(result) ? "; its sessions get a new one"
                                     : "; the next call starts a new one");
    case Verb::Stop:
      return server + " is stopped: " + gone + "; `corral start " + server + "` allows it to start again";
    default: break;
  }
  return flag(result, "allowed") ? server + " may run again"
                                 : server + " was not stopped; if it is not running, its next call starts it";
}

void show(Verb verb, const std::string& server, const json::value& result) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.paragraph("", headline(verb, server, result));
  show_gone(page, result);
}

int exit_code_of(const json::value& result) {
  for (const json::value& gone : list(result, "ended")) {
    if (!flag(gone, "proved")) return 1;
  }
  return 0;
}

Command server_command(Verb verb, std::string name, std::string summary, const char* examples) {
  return daemon_command({.name = std::move(name),
                         .summary = std::move(summary),
                         .examples = examples,
                         .json_help = "Print the result and its evidence as JSON",
                         .takes = DaemonCommand::Takes::ServerName,
                         .hello = control::verb_hello(verb),
                         .show = [verb](const json::value& result,
                                        const DaemonOptions& options) { show(verb, options.server, result); },
                         .exit_code = exit_code_of});
}

}  // namespace

Command restart_command() {
  return server_command(Verb::Restart, "restart", "Replace the running instances of a server.",
                        kRestartExamples);
}

Command stop_command() {
  return server_command(Verb::Stop, "stop", "End a server and prevent it from starting.", kStopExamples);
}

Command start_command() {
  return server_command(Verb::Start, "start", "Allow a stopped server to run again.", kStartExamples);
}

}  // namespace corral::cli
