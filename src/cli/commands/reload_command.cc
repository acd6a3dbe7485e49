// `corral reload`: makes the daemon read its configuration again.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral reload
  corral reload --json

The daemon also reads the file when it changes, and on SIGHUP. Only changed servers are affected: their instances end when
calls in flight are answered, and their sessions continue with the new definition. Sessions of a server that is no longer
configured end. A file with an error changes nothing, and the error is shown.
Exit code: 0 when the new configuration is in force and the old instances are gone; 1 if no daemon is running; 125 if the
file cannot be used.)";

void show(const json::value& result, const DaemonOptions&) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  std::string changes;
  for (const char* what : {"changed", "added", "removed"}) {
    if (!list(result, what).empty()) changes += std::string("; ") + what + " " + joined(result, what);
  }
  page.paragraph("", "Configuration reloaded" + (changes.empty() ? "; no server has changed" : changes));
  if (text(result, "ended") != "0") page.paragraph("  ", "instances ended: " + text(result, "ended"));
  for (const json::value& warning : list(result, "warnings")) {
    page.paragraph("  warning: ", warning.is_string() ? std::string(warning.get_string()) : "-");
  }
}

}  // namespace

Command reload_command() {
  return daemon_command({.name = "reload",
                         .summary = "Make the daemon read its configuration again.",
                         .examples = kExamples,
                         .json_help = "Print what changed as JSON",
                         .hello = control::verb_hello(control::Verb::Reload),
                         .show = show});
}

}  // namespace corral::cli
