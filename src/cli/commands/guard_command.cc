// `corral guard`: the client itself, with everything that it starts.
#include <chrono>
#include <memory>

#include "base/units.h"
#include "cli/commands/report_file.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "guard/guard.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral guard -- claude
  corral guard --keep 'postgres*' --keep '*dev-server*' -- codex
  corral guard --fail-on-leak -- claude -p "fix the tests"     in CI: exit 120 if something was left

The client keeps its terminal, Ctrl+C, Ctrl+Z and fg, its descriptors and its exit code. When it is gone, whatever
it started and left behind is ended: half a second to leave by itself (that is no leak), SIGTERM, SIGKILL. stderr
says who it was; nothing is said if nobody was left.
A --keep pattern is a shell pattern for the whole command line or for the program's name; what it matches lives on,
with everything below it.
Signals that a process sends to guard are passed on to the client. Killing guard itself with SIGKILL ends the client
by SIGTERM but leaves what the client started; `corral doctor` finds it.
Exit code: the client's; a signal that ended the client ends guard too; 120 a leak, with --fail-on-leak;
127 not found; 126 not executable; 125 corral's own failure.)";

struct Options {
  guard::GuardOptions guard;
  std::string report;
};

Result<void> set_grace(keeper::Micros& grace, const std::string& text) {
  const Result<std::chrono::milliseconds> parsed = parse_duration(text);
  if (!parsed) return parsed.error();
  grace = *parsed;
  return {};
}

int run(Options& options, std::vector<std::string> command) {
  if (command.empty() || command.front().empty()) {
    guard::say("no command given: name the client's program, as in `corral guard -- claude`");
    return guard::kOwnFailure;
  }
  options.guard.client = std::move(command);
  constexpr int kOutOfTheWay = 64;  // above the numbers that a script hands to its programs
  const Result<UniqueFd> report = open_report(options.report, kOutOfTheWay);
  if (!report) {
    guard::say(report.error().message);
    return guard::kOwnFailure;
  }
  options.guard.report = report->get();
  return guard::guard_client(options.guard);
}

}  // namespace

Command guard_command() {
  // Shared by the callbacks below, which the parser keeps as long as the command.
  auto options = std::make_shared<Options>();
  guard::GuardOptions& guard = options->guard;

  Command command;
  command.name = "guard";
  command.summary = "Run a client so that nothing it starts outlives it.";
  command.usage = "corral guard [options] [--] CLIENT [ARG...]";
  command.examples = kExamples;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  using Text = const std::string&;
  add("--keep", "PATTERN", "Do not end processes that match, nor what is below them; may be repeated",
      [&guard](Text text) -> Result<void> {
        guard.keep.push_back(text);
        return {};
      });
  add("--fail-on-leak", "", "Exit with 120 if anything had to be ended, or could not be",
      set_flag(guard.fail_on_leak));
  add("--term-grace", "TIME", "From SIGTERM to SIGKILL (1500ms)",
      [&guard](Text text) { return set_grace(guard.graces.term, text); });
  add("--kill-grace", "TIME", "From SIGKILL to the report of what could not be ended (2s)",
      [&guard](Text text) { return set_grace(guard.graces.kill, text); });
  add("--report", "FILE", "Append one line of JSON at the end: what ended, how, and the proof; - is stderr",
      set_text(options->report));
  add("-v,--verbose", "", "Say on stderr what happens", set_flag(guard.verbose));
  command.run = [options](std::vector<std::string> tail) { return run(*options, std::move(tail)); };
  return command;
}

}  // namespace corral::cli
