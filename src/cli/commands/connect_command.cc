// `corral connect`: connects a client to a server of the user's daemon, instead of starting that server.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/ignored_words.h"
#include "base/words.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "known/command_name.h"
#include "shim/connect.h"
#include "shim/root.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral connect filesystem
  corral connect -- npx -y @modelcontextprotocol/server-filesystem .
  corral connect --name files -- npx -y some-server .
  corral connect --share session -- node server.js
  corral connect --ignore cwd --ignore PATH -- node /opt/server.js    the same server for all projects
  corral connect --root ~/project filesystem    one server for each project, with "share": "root"
  corral connect --session "$ID" filesystem     as part of a session: see `corral session --help`

In a client's configuration:
  "command": "corral", "args": ["connect", "filesystem"]
  "command": "corral", "args": ["connect", "--", "npx", "-y", "some-server"]

If no daemon is running, this command starts one. If it cannot, it runs the server itself, as `corral run` does, and prints
the reason on stderr. The session ends when stdin is closed, when the reader of stdout is gone, when the parent exits, or
when a process sends SIGTERM, SIGINT, SIGHUP or SIGQUIT to corral.
Exit code: what the daemon reports for the session; 128+n if signal n ended it; 69 if there is no daemon, but one is
required (--require-daemon, --session, or an entry with a list of tools); 75 if the daemon died; 125 if corral failed.)";

Result<void> set_share(std::string& share, const std::string& text) {
  if (text != "shared" && text != "session" && text != "root") {
    return Error{"invalid value '" + text + "': use shared, session or root"};
  }
  share = text;
  return {};
}

Result<void> add_ignored(std::vector<std::string>& ignored, const std::string& word) {
  if (const std::string objection = objection_to_ignored(word); !objection.empty()) {
    return Error{"invalid value '" + word + "': " + objection};
  }
  if (ignored.size() == kMostIgnored) {
    return Error{"given too often: at most " + std::to_string(kMostIgnored) + " words are allowed"};
  }
  if (!contains(ignored, word)) ignored.push_back(word);
  return {};
}

/// Why the options do not fit a configured server; empty if they do.
std::string objection_to_options(const shim::ConnectOptions& options) {
  if (!options.name.empty()) {
    return "--name is for a command after `--`; a configured server has its name already";
  }
  if (options.ignore.empty()) return {};
  std::string words;
  for (const std::string& word : options.ignore) words += (words.empty() ? "\"" : ", \"") + word + "\"";
  return "--ignore is for a command after `--`; for a configured server write \"corral\": {\"ignore\": [" +
         words + "]} in its entry";
}

/// At a terminal, a person has typed what a client should start, and would see nothing at all.
void explain_waiting(const shim::ConnectOptions& options) {
  const std::string name = options.server.empty() ? "NAME" : options.server;
  const std::string what = options.server.empty() ? "-- COMMAND" : options.server;
  std::cerr << "corral connect is waiting for a client's messages on stdin; Ctrl+C ends it.\n"
            << "  a client starts it, as in   claude mcp add " << name << " -- corral connect " << what
            << '\n'
            << "  from a shell                `corral tools " << what << "`\n"
            << "                              `corral call " << what
            << (options.server.empty() ? " -- TOOL`" : " TOOL`") << std::endl;
}

int connect(shim::ConnectOptions& options, const std::vector<Option>& late, std::vector<std::string> args) {
  if (args.empty() || args.front().empty()) {
    return fail("connect",
                "no server given: name a configured server, or put a command after `--`, as in "
                "`corral connect -- npx -y some-server`");
  }
  const bool command = came_after_dashes(args);
  if (!command) {
    Result<std::vector<std::string>> rest = apply_late_options(late, args);
    if (!rest) return fail("connect", rest.error().message);
    args = std::move(*rest);
  }
  const std::string objection = command ? "" : objection_to_options(options);
  if (!objection.empty()) return fail("connect", objection);
  if (command) {
    options.argv = std::move(args);
  } else if (args.size() == 1) {
    options.server = std::move(args.front());
  } else {
    return fail("connect", "unexpected argument '" + args[1] +
                               "': `corral connect NAME` takes one name; put a command after `--`");
  }
  if (isatty(STDIN_FILENO) == 1) explain_waiting(options);
  return shim::connect(options);
}

}  // namespace

Command connect_command() {
  auto options = std::make_shared<shim::ConnectOptions>();
  Command command;
  command.name = "connect";
  command.summary = "Use a server through the daemon, which shares it if that is safe.";
  command.usage = "corral connect [options] NAME | -- COMMAND [ARG...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.runs_program = true;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  add("--runtime-dir", "DIR", "Directory of the daemon's socket, instead of the usual one",
      set_word(options->runtime_dir));
  add("--config", "FILE", "Configuration for a daemon that this command starts, and for running without one",
      set_word(options->config_file));
  add("--name", "NAME", "Call the command this in `corral ps`, logs and metrics",
      [options](const std::string& text) -> Result<void> {
        const std::string objection = known::objection_to_name(text);
        if (!objection.empty()) return Error{"invalid value '" + text + "': " + objection};
        options->name = text;
        return {};
      });
  add("--share", "shared|session|root",
      "One instance for all sessions, for this session only, or for each project",
      [options](const std::string& text) { return set_share(options->share, text); });
  add("--ignore", "WORD",
      "Share the command even if this differs: cwd, PATH or the name of a variable (repeatable)",
      [options](const std::string& text) { return add_ignored(options->ignore, text); });
  add("--root", "DIR", "The root directory of the project, instead of the working directory",
      [options](const std::string& text) -> Result<void> {
        const Result<std::string> root = shim::find_root(text);
        if (!root) return root.error();
        options->root = *root;
        return {};
      });
  add("--session", "ID", "Attach to this session: use its servers first, and end with it",
      set_word(options->session));
  add("--require-daemon", "", "Exit with code 69 if no daemon is available",
      set_flag(options->require_daemon));
  add("-q,--quiet", "", "Print no advice about sharing, and no reason that the client gets as an answer",
      set_flag(options->quiet));
  add("-v,--verbose", "", "Print progress messages to stderr", set_flag(options->verbose));
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> tail) {
    return connect(*options, late, std::move(tail));
  };
  return command;
}

}  // namespace corral::cli
