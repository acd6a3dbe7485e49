// `corral run`: one server for one client, no daemon.
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/keep_limit.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/commands/report_file.h"
#include "cli/frame/command.h"
#include "cli/frame/keep_count.h"
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

The session ends when stdin closes, nobody reads stdout, the parent dies, corral gets SIGTERM, SIGINT, SIGHUP or
SIGQUIT from a process, or the server exits. Then everything that the server started ends too.
SIGUSR1 and SIGUSR2 are passed on to the server.
Exit code: the server's; 128+n if signal n ended it; 127 not found; 126 not executable; 125 corral's own failure.)";

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
    return Error{"'" + text + "' is no containment: write auto, strict or basic"};
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
    return Error{"'" + text + "' is no number of processes: write a whole number from 1, such as 64"};
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
    return Error{"no variable: write NAME=value"};  // without the text, which may be a secret
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

/// A server that cannot be cleaned up before must not keep the client waiting for the new one: it is said,
/// and the start goes on.
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
           std::to_string(gone) + "; with the new one " + std::to_string(cleanup.found - gone + 1) +
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
  std::error_code gone;  // a working directory that is no more: relative names mean nothing then
  const std::string directory =
      std::filesystem::absolute(spec.directory.empty() ? "." : spec.directory, gone);
  const Result<reap::Cleanup> cleanup = reap::clean_up_copies(spec.argv, directory, path, keep);
  if (!cleanup) return cleanup.error();
  say_cleanup(*cleanup, keep);
  return {};
}

int run(RunOptions& options, std::vector<std::string> command) {
  if (command.empty() || command.front().empty()) {
    run::say("no command given: name the server's program, as in `corral run -- npx -y some-server`");
    return run::kOwnFailure;
  }
  // What a client leaked to us would be held open here: a copy of the other end of stdin, and the session
  // never ends.
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
  // Shared by the callbacks below, which the parser keeps as long as the command.
  auto options = std::make_shared<RunOptions>();
  options->spec.environment = inherited_environment();
  proc::LaunchSpec& spec = options->spec;

  Command command;
  command.name = "run";
  command.summary = "Run an MCP server so that nothing it starts outlives this session.";
  command.usage = "corral run [options] [--] COMMAND [ARG...]";
  command.examples = kExamples;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  using Text = const std::string&;
  add("--containment", "LEVEL",
      "auto (a keeper, and a cgroup where one can be made), strict (a PID namespace on top, or refuse to "
      "start), "
      "basic (a keeper alone)",
      [&spec](Text text) { return set_containment(spec.containment, text); });
  add("--stdin-grace", "TIME", "How long the server may take to leave after its input ended (2s)",
      set_duration(spec.stdin_grace));
  add("--term-grace", "TIME", "From SIGTERM to SIGKILL (1500ms)", set_duration(spec.term_grace));
  add("--kill-grace", "TIME", "From SIGKILL to the report of what could not be ended (2s)",
      set_duration(spec.kill_grace));
  add("--memory", "SIZE", "Memory for the whole tree, such as 512M or 2G",
      [&spec](Text text) { return set_memory(spec.limits, text); });
  add("--pids", "N", "Processes in the whole tree",
      [&spec](Text text) { return set_processes(spec.limits, text); });
  add("--cpu", "CORES", "Processor time for the whole tree, such as 0.5 or 150%",
      [&spec](Text text) { return set_cpu(spec.limits, text); });
  add("--cwd", "DIR", "Working directory of the server", set_text(spec.directory));
  add("--env", "NAME=VALUE", "Set a variable for the server; may be repeated",
      [&spec](Text text) { return set_variable(spec.environment, text); });
  add("--on-stop", "COMMAND", "A shell command that runs when the tree is gone, also if corral was killed",
      set_text(spec.on_stop));
  add("--detached", "", "Do not end when the parent process dies", set_flag(options->outer.detached));
  add("--cleanup", "",
      "First end the oldest copies of the same server, whoever started them, so that N are left "
      "with this one; only what `corral doctor` calls a server",
      set_flag(options->cleanup));
  add("--keep", "N", "N for --cleanup (corral.keep of the configuration, MAX_KEEP_PROCESSES, or 9)",
      [options](Text text) {
        options->keep_given = true;
        return set_count(options->keep, "number of copies")(text);
      });
  add("--report", "FILE", "Append one line of JSON at the end: what ended, how, and the proof; - is stderr",
      set_text(options->report));
  add("-v,--verbose", "", "Say on stderr what happens", set_flag(options->outer.verbose));
  command.run = [options](std::vector<std::string> tail) { return run(*options, std::move(tail)); };
  return command;
}

}  // namespace corral::cli
