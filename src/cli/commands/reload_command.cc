// `corral reload`: the daemon reads its configuration again.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <memory>

#include "cli/frame/ask_daemon.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/gone_lines.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral reload
  corral reload --json

The daemon also notices by itself when the file changes, and on SIGHUP. Only the servers that changed are touched: their
instances end when calls in flight are answered, and their sessions go on with the new definition. Sessions of a server that
is no longer configured end. A file with a mistake changes nothing, and the mistake is shown.
Exit code: 0 when the new configuration is in force and the old instances are gone; 1 if no daemon runs; 125 if the
file cannot be used.)";

struct Options {
  std::string runtime_dir;
  bool json = false;
};

void show(const json::value& result) {
  Page page(std::cout, look_of(STDOUT_FILENO));
  std::string changes;
  for (const char* what : {"changed", "added", "removed"}) {
    if (!list(result, what).empty()) changes += std::string("; ") + what + " " + words(result, what);
  }
  page.paragraph("", "The configuration was read" + (changes.empty() ? "; no server has changed" : changes));
  if (text(result, "ended") != "0") page.paragraph("  ", "instances that ended: " + text(result, "ended"));
  for (const json::value& warning : list(result, "warnings")) {
    page.paragraph("  warning: ", warning.is_string() ? std::string(warning.get_string()) : "-");
  }
}

int run(const Options& options, const std::vector<std::string>& words) {
  const Result<void> nothing_more = expect_no_words(words);
  if (!nothing_more) return fail("reload", nothing_more.error().message);
  control::Hello hello;
  hello.verb = control::Verb::Reload;
  const Asked asked = ask_daemon("reload", options.runtime_dir, hello);
  if (!asked.result) return asked.exit_code;
  if (options.json) {
    std::cout << *asked.result << '\n';
  } else {
    show(asked.value);
  }
  return 0;
}

}  // namespace

Command reload_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "reload";
  command.summary = "Let the daemon read its configuration again.";
  command.usage = "corral reload [options]";
  command.examples = kExamples;
  command.options.push_back({"--json", "", "What changed, as JSON", set_flag(options->json)});
  command.options.push_back(runtime_dir_option(options->runtime_dir));
  command.run = [options](const std::vector<std::string>& words) { return run(*options, words); };
  return command;
}

}  // namespace corral::cli
