// `corral restart`, `corral stop` and `corral start`: one configured server of the daemon.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/late_options.h"
#include "cli/frame/option_values.h"
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

Every instance of the server goes, its whole tree; calls in flight get `corral.drain` (5 s) to be answered. Sessions stay
attached and speak to a new instance. A server that was stopped, or that crashed too often, may start again.
Exit code: 0 when the old instances are gone; 1 if no daemon runs or a tree is not proved gone; 125 if there is no such
server.)";

constexpr const char* kStopExamples = R"(Examples:
  corral stop files

Every instance of the server goes, as with `corral restart`, but none comes back before `corral start files`: until then
calls are answered with an error that says so. Sessions stay attached. It holds until the daemon ends.
Exit code: 0 when the instances are gone; 1 if no daemon runs or a tree is not proved gone; 125 if there is no such
server.)";

constexpr const char* kStartExamples = R"(Examples:
  corral start files

Allows a server that `corral stop` stopped, or that crashed too often, to run again. Sessions that wait for it get it at
once; otherwise the next call starts it.
Exit code: 0, also if nothing stood in its way; 1 if no daemon runs; 125 if there is no such server.)";

std::string headline(Verb verb, const std::string& server, const json::value& result) {
  const std::size_t ended = list(result, "ended").size();
  const std::string gone = ended == 0 ? "no instance was running" : counted(ended, "instance") + " ended";
  switch (verb) {
    case Verb::Restart:
      return server + ": " + gone +
             (ended == 0 ? "; the next call starts one" : "; whoever uses it gets a new one");
    case Verb::Stop:
      return server + " is stopped: " + gone + "; `corral start " + server + "` allows it again";
    default: break;
  }
  return flag(result, "allowed") ? server + " may run again" : server + " was not stopped";
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
                         .json_help = "The evidence as JSON",
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
  return server_command(Verb::Stop, "stop", "End a server and keep it from starting.", kStopExamples);
}

Command start_command() {
  return server_command(Verb::Start, "start", "Allow a stopped server to run again.", kStartExamples);
}

}  // namespace corral::cli
