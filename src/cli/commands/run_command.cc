// `corral run`: runs one server for one client, without a daemon.
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/keep_limit.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/server_table.h"
#include "keeper/kernel.h"
#include "proc/command_lookup.h"
#include "proc/keeper_spawner.h"
#include "reap/copies.h"
#include "run/outer.h"
#include "survey/findings.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral run -- npx -y @modelcontextprotocol/server-filesystem .
  corral run --containment strict --memory 1G -- uvx some-server
  corral run --report ~/mcp-sessions.jsonl -- node server.js
  corral run --on-stop 'ssh build-host ./stop-worker' -- ssh build-host ./worker

In a client's configuration:
  "command": "corral", "args": ["run", "--", "npx", "-y", "some-server"]

The session ends when stdin is closed, when the reader of stdout is gone, when the parent exits, when a process sends SIGTERM,
SIGINT, SIGHUP or SIGQUIT to corral, or when the server exits. Then everything that the server started is ended, too.
SIGUSR1 and SIGUSR2 are passed on to the server.
Exit code: the server's; 128+n if signal n ended it; 127 not found; 126 not executable; 125 corral failed.)";

struct RunOptions {
  proc::LaunchSpec spec;
  run::OuterOptions outer;
  std::string report;
  bool cleanup = false;
  bool keep_given = false;
  std::size_t keep = kDefaultKeep;
};

Result<void> set_containment(proc::Containment& containment, const std::string& text) {
  if (text == "auto") {
    containment = proc::Containment::Auto;
  } else if (text == "strict") {
    containment = proc::Containment::Strict;
  } else if (text == "basic") {
    containment = proc::Containment::Basic;
  } else {
    return Error{"invalid containment level '" + text + "': use auto, strict or basic"};
  }
  return {};
}

Result<void> set_memory(proc::Limits& limits, const std::string& text) {
  const Result<std::uint64_t> parsed = parse_size(text);
  if (!parsed) return parsed.error();
  limits.memory_bytes = *parsed;
  return {};
}

Result<void> set_processes(proc::Limits& limits, const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
    return Error{"invalid number of processes '" + text + "': use a whole number from 1, such as 64"};
  }
  limits.processes = number;
  return {};
}

Result<void> set_cpu(proc::Limits& limits, const std::string& text) {
  const Result<std::uint32_t> parsed = parse_cores(text);
  if (!parsed) return parsed.error();
  limits.cpu_thousandths = *parsed;
  return {};
}

/// A later setting replaces an earlier one, whether from --env or inherited.
Result<void> set_variable(std::vector<std::string>& environment, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{"not a variable: use NAME=VALUE"};  // does not quote the text, which may be a secret
  }
  const std::string name = text.substr(0, equals + 1);
  std::erase_if(environment, [&name](const std::string& entry) { return entry.starts_with(name); });
  environment.push_back(text);
  return {};
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

/// Old copies that cannot be ended must not prevent the start of the new server, so they are only reported.
void say_cleanup(const reap::Cleanup& cleanup, std::size_t keep) {
  std::size_t gone = 0;
  for (std::size_t i = 0; i < cleanup.ended.size(); ++i) {
    gone += cleanup.ended[i].gone() ? 1 : 0;
    for (const reap::Outcome& outcome : cleanup.ended[i].outcomes) {
      if (!outcome.gone())
        run::say("cleanup: process " + std::to_string(outcome.pid) + " " + explain(outcome));
    }
  }
  if (cleanup.chosen.empty()) return;
  run::say("cleanup: found " + count(cleanup.found, "copy", "copies") + " of this server, ended the oldest " +
           std::to_string(gone) + "; with the new one, " + std::to_string(cleanup.found - gone + 1) +
           " are left (N is " + std::to_string(keep) + ")");
}

Result<void> clean_up(const RunOptions& options) {
  std::size_t keep = options.keep;
  if (!options.keep_given) {
    const Result<std::size_t> usual = keep_count(std::nullopt);
    if (!usual) return usual.error();
    keep = *usual;
  }
  const proc::LaunchSpec& spec = options.spec;
  const std::string path(proc::environment_value(spec.environment, "PATH"));
  std::error_code gone;  // the working directory was deleted: relative names have no meaning then
  const std::string directory =
      std::filesystem::absolute(spec.directory.empty() ? "." : spec.directory, gone);
  const Result<reap::Cleanup> cleanup = reap::clean_up_copies(spec.argv, directory, path, keep);
  if (!cleanup) return cleanup.error();
  say_cleanup(*cleanup, keep);
  return {};
}

int run(RunOptions& options, std::vector<std::string> command) {
  if (command.empty() || command.front().empty()) {
    run::say(
        "no command given: put the server's command after `--`, as in `corral run -- npx -y some-server`");
    return run::kOwnFailure;
  }
  // Close descriptors that the client leaked to us: with a copy of the other end of stdin, the session would
  // never end.
  keeper::close_from(3);
  options.spec.argv = std::move(command);
  const Result<UniqueFd> report = open_report(options.report, 3);
  if (!report) {
    run::say(report.error().message);
    return run::kOwnFailure;
  }
  options.spec.report = report->get();
  if (options.cleanup) {
    const Result<void> cleaned = clean_up(options);
    if (!cleaned) {
      run::say(cleaned.error().message);
      return run::kOwnFailure;
    }
  }
  Result<proc::KeeperSpawner> spawner = proc::KeeperSpawner::create();
  if (!spawner) {
    run::say(spawner.error().message);
    return run::kOwnFailure;
  }
  return run::run_session(*spawner, options.spec, options.outer);
}

}  // namespace

Command run_command() {
  // Shared with the callbacks below, which live as long as the command.
  auto options = std::make_shared<RunOptions>();
  options->spec.environment = inherited_environment();
  proc::LaunchSpec& spec = options->spec;

  Command command;
  command.name = "run";
  command.summary = "Run an MCP server, and end its whole process tree with the session.";
  command.usage = "corral run [options] [--] COMMAND [ARG...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Program;
  command.runs_program = true;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  using Text = const std::string&;
  add("--containment", "LEVEL",
      "auto (a keeper, and a cgroup if possible), strict (also a PID namespace, otherwise refuse to start), "
      "basic (only a keeper)",
      [&spec](Text text) { return set_containment(spec.containment, text); });
  add("--stdin-grace", "TIME", "Time for the server to exit after its input has ended (2s)",
      set_duration(spec.stdin_grace));
  add("--term-grace", "TIME", "Time between SIGTERM and SIGKILL (1500ms)", set_duration(spec.term_grace));
  add("--kill-grace", "TIME", "Time to wait after SIGKILL before reporting what did not end (2s)",
      set_duration(spec.kill_grace));
  add("--memory", "SIZE", "Memory limit of the whole tree, such as 512M or 2G",
      [&spec](Text text) { return set_memory(spec.limits, text); });
  add("--pids", "N", "Limit on the number of processes in the tree",
      [&spec](Text text) { return set_processes(spec.limits, text); });
  add("--cpu", "CORES", "Processor limit of the whole tree, such as 0.5 or 150%",
      [&spec](Text text) { return set_cpu(spec.limits, text); });
  add("--cwd", "DIR", "Working directory of the server", set_text(spec.directory));
  add("--env", "NAME=VALUE", "Set an environment variable of the server (repeatable)",
      [&spec](Text text) { return set_variable(spec.environment, text); });
  add("--on-stop", "COMMAND", "Shell command to run when the tree is gone, even if corral was killed",
      set_text(spec.on_stop));
  add("--detached", "", "Do not end when the parent process exits", set_flag(options->outer.detached));
  add("--cleanup", "", "First end the oldest copies of the same server, so that N are left with this one",
      set_flag(options->cleanup));
  add("--keep", "N", "N for --cleanup (corral.keep, MAX_KEEP_PROCESSES or 9)", [options](Text text) {
    options->keep_given = true;
    return set_count(options->keep, "number of copies")(text);
  });
  add("--report", "FILE", "Append a JSON line at the end: what ended, how, and the proof (- for stderr)",
      set_text(options->report));
  add("-v,--verbose", "", "Print progress messages to stderr", set_flag(options->outer.verbose));
  command.run = [options](std::vector<std::string> tail) { return run(*options, std::move(tail)); };
  return command;
}

}  // namespace corral::cli
