// `corral guard`: runs a client and ends everything that it started.
#include <chrono>
#include <memory>

#include "base/units.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "guard/guard.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral guard -- claude
  corral guard --keep 'postgres*' --keep '*dev-server*' -- codex
  corral guard --fail-on-leak -- claude -p "fix the tests"     in CI: exit code 120 if there was a leak

The client keeps its terminal, Ctrl+C, Ctrl+Z and fg, its descriptors and its exit code. When it has exited, corral ends
every process that it started and left behind: it waits half a second (a process that exits in that time is not a leak),
then sends SIGTERM, then SIGKILL. The processes are listed on stderr; if there are none, nothing is printed.
A --keep pattern is a shell pattern for the whole command line or for the program's name. Matching processes stay, with
everything below them.
A signal that a process sends to guard is passed on to the client. If guard itself is killed with SIGKILL, the client gets
SIGTERM, but what it started stays; `corral doctor` finds it.
Exit code: the client's; a signal that ended the client ends guard too; 120 a leak, with --fail-on-leak;
127 not found; 126 not executable; 125 corral failed.)";

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
    guard::say("no command given: put the client's command after `--`, as in `corral guard -- claude`");
    return guard::kOwnFailure;
  }
  options.guard.client = std::move(command);
  constexpr int kOutOfTheWay = 64;  // above the descriptors that a script passes to its programs
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
  // Shared with the callbacks below, which live as long as the command.
  auto options = std::make_shared<Options>();
  guard::GuardOptions& guard = options->guard;

  Command command;
  command.name = "guard";
  command.summary = "Run a client, and end everything that it leaves behind.";
  command.usage = "corral guard [options] [--] CLIENT [ARG...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Program;
  command.runs_program = true;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  using Text = const std::string&;
  add("--keep", "PATTERN", "Do not end matching processes or what is below them (repeatable)",
      [&guard](Text text) -> Result<void> {
        guard.keep.push_back(text);
        return {};
      });
  add("--fail-on-leak", "", "Exit with code 120 if a process had to be ended, or could not be",
      set_flag(guard.fail_on_leak));
  add("--term-grace", "TIME", "Time between SIGTERM and SIGKILL (1500ms)",
      [&guard](Text text) { return set_grace(guard.graces.term, text); });
  add("--kill-grace", "TIME", "Time to wait after SIGKILL before reporting what did not end (2s)",
      [&guard](Text text) { return set_grace(guard.graces.kill, text); });
  add("--report", "FILE", "Append a JSON line at the end: what ended, how, and the proof (- for stderr)",
      set_text(options->report));
  add("-v,--verbose", "", "Print progress messages to stderr", set_flag(guard.verbose));
  command.run = [options](std::vector<std::string> tail) { return run(*options, std::move(tail)); };
  return command;
}

}  // namespace corral::cli
