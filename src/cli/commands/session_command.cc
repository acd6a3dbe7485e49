// `corral session`: sessions with an id, for programs that start and end several of them.
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <csignal>
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
#include "shim/autostart.h"
#include "shim/connect.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using control::Hello;
using control::Verb;

constexpr const char* kExamples = R"(Examples:
  ID=$(corral session create --server files --server memory --owner $$)
  corral connect --session "$ID" files          instead of the server's command, in any client
  corral session end "$ID"                      returns when every tree that was started for it is gone
  corral session create --ttl 10m -- npx -y some-server . -- uvx another-server
  corral session list

A session owns the servers that are attached to it. When it ends, they end, including calls in flight, even if no client
closes its pipe; `end` prints what has ended. A session also ends when its owner exits, or after a time without messages
(--ttl; 1 hour if it has no owner). Put `--` before each of several commands; a command cannot contain `--` itself.
`connect --session ID` finds the commands by their names (--json shows them).
`create` prints only the id, and starts a daemon if none is running.
Exit code: `end` returns 0 only if every tree is proved gone, otherwise 1; 1 if no daemon is running; 69 if `create` cannot
start one; 125 if the daemon refuses. docs/protocol/control.md has the same verbs for programs.)";

constexpr std::chrono::seconds kStartPatience{10};

struct Options {
  std::string runtime_dir;
  std::string config;
  std::vector<std::string> servers;
  pid_t owner = 0;
  std::chrono::milliseconds ttl{0};
  bool json = false;
};

// ---- create

/// Removes the commands from `args`: everything after the first `--`, split at each further one.
std::vector<std::vector<std::string>> split_off_commands(std::vector<std::string>& args) {
  std::vector<std::vector<std::string>> commands;
  const auto first = std::find(args.begin(), args.end(), "--");
  for (auto word = first; word != args.end(); ++word) {
    if (*word == "--") {
      commands.emplace_back();
    } else {
      commands.back().push_back(*word);
    }
  }
  args.erase(first, args.end());
  return commands;
}

/// Finds or starts a daemon as a shim does, with its signal handling; afterwards Ctrl+C ends this command
/// again.
Result<control::ControlSocket> reach(const Options& options) {
  sigset_t before;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  Result<control::ControlSocket> channel = [&options] {
    shim::ShimSignals signals;
    shim::StderrWriter errors;
    return shim::reach_daemon({options.runtime_dir, options.config, false},
                              std::chrono::steady_clock::now() + kStartPatience, signals, errors);
  }();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return channel;
}

int create(const Options& options, std::vector<std::vector<std::string>> commands) {
  for (const auto& command : commands) {
    if (command.empty()) return fail("session", "no command after `--`: add one, or remove the `--`");
  }
  Result<Hello> hello = shim::hello_from_here(Verb::SessionCreate);
  if (!hello) return fail("session", hello.error().message);
  hello->servers = options.servers;
  hello->commands = std::move(commands);
  hello->owner = options.owner;
  hello->ttl = options.ttl;
  Result<control::ControlSocket> channel = reach(options);
  if (!channel) {
    fail("session", "no daemon is available: " + channel.error().message);
    return shim::kNoDaemon;
  }
  const Result<JsonAnswer> parsed = read_answer(
      control::DaemonRequest(std::move(*channel), std::move(*hello), control::kTellPatience).wait());
  if (!parsed) return fail("session", parsed.error().message);
  std::cout << (options.json ? parsed->text : text(parsed->value, "id")) << '\n';
  return 0;
}

// ---- end

void show_end(const json::value& result) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const std::size_t ended = list(result, "ended").size();
  page.paragraph("", "Session " + text(result, "session") + " has ended after " + text(result, "ms") +
                         " ms: " + counted(ended, "instance") + " ended with it" +
                         (flag(result, "leaked") ? "" : ", nothing is left"));
  show_gone(page, result);
  for (const json::value& kept : list(result, "kept")) {
    page.paragraph("  ", text(kept, "server") + " " + text(kept, "instance").substr(0, 8) +
                             " keeps running: it is shared; sessions that use it: " + text(kept, "sessions"));
  }
  for (const json::value& survivor : list(result, "survivors")) {
    page.paragraph("  ", "NOT ended: process " + text(survivor, "pid") + " (" + text(survivor, "command") +
                             "), " + text(survivor, "cause"));
  }
}

int end(const Options& options, const std::string& id) {
  Hello hello;
  hello.verb = Verb::SessionEnd;
  hello.session = id;
  const AnswerOrExit asked = ask_daemon("session", options.runtime_dir, hello);
  const int code = options.json ? print_json(asked) : print_answer(asked, show_end);
  return asked.answer && flag(asked.answer->value, "leaked") ? 1 : code;
}

// ---- list

void show_list(const json::value& result) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const std::vector<observe::SessionObjectView> sessions = observe::read_session_objects(result);
  page.heading("Sessions: " + std::to_string(sessions.size()));
  if (!sessions.empty()) show_session_objects(page, sessions);
}

int show_sessions(const Options& options) {
  const AnswerOrExit asked =
      ask_daemon("session", options.runtime_dir, control::verb_hello(Verb::SessionList));
  return options.json ? print_json(asked) : print_answer(asked, show_list);
}

// ---- the command

int run(const Options& options, const std::vector<Option>& late, std::vector<std::string> all) {
  std::vector<std::vector<std::string>> commands = split_off_commands(all);
  const Result<std::vector<std::string>> rest = apply_late_options(late, all);
  if (!rest) return fail("session", rest.error().message);
  const std::vector<std::string>& args = *rest;
  const std::string what = args.empty() ? "" : args.front();
  if (what != "create" && (!commands.empty() || !options.servers.empty())) {
    return fail("session", "only `corral session create` takes --server and commands");
  }
  if (what == "create" && args.size() == 1) return create(options, std::move(commands));
  if (what == "end" && args.size() == 2 && !args[1].empty()) return end(options, args[1]);
  if (what == "list" && args.size() == 1) return show_sessions(options);
  if (what == "end") return fail("session", "give the id of one session: `corral session end ID`");
  if (what == "create") {
    return fail("session",
                "unexpected argument '" + args[1] + "': use --server NAME, or put a command after `--`");
  }
  return fail("session", "expected a subcommand: create, end or list; see `corral session --help`");
}

}  // namespace

Command session_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "session";
  command.summary = "Create, end and list sessions that own several servers.";
  command.usage = "corral session create [options] [-- COMMAND [ARG...]]... | end ID | list";
  command.examples = kExamples;
  command.argument = {Argument::Kind::Choice, {"create", "end", "list"}};
  command.runs_program = true;
  const auto add = [&command](std::string names, std::string value, std::string help, Apply apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), std::move(apply)});
  };
  add("--server", "SERVER", "create: a configured server that the session owns (repeatable)",
      [options](const std::string& name) -> Result<void> {
        if (name.empty()) return Error{"the name is empty"};
        options->servers.push_back(name);
        return {};
      });
  add("--owner", "PID", "create: end the session when this process exits", set_pid(options->owner));
  add("--ttl", "TIME", "create: end the session after this time without messages (1h without an owner)",
      set_age(options->ttl));
  add("--json", "", "Print JSON with all details", set_flag(options->json));
  add("--config", "FILE", "create: configuration for a daemon that this command starts",
      set_word(options->config));
  add("--runtime-dir", "DIR", "Directory of the daemon's socket, instead of the usual one",
      set_word(options->runtime_dir));
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> args) {
    return run(*options, late, std::move(args));
  };
  return command;
}

}  // namespace corral::cli
