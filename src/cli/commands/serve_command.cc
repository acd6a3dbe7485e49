// `corral serve`: the daemon.
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "events/event_log.h"
#include "serve/service.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral serve                                  in the foreground; Ctrl+C ends it
  corral serve --background                     returns when the daemon answers
  corral serve --replace                        after an upgrade
  corral serve --config ./servers.json --runtime-dir /tmp/try
  corral serve --port 8765                      also by URL: http://127.0.0.1:8765/mcp/NAME (docs/http.md)
  corral serve --port 8765 -- npx -y some-server     one server without any configuration, at /mcp and /sse

There is one daemon for each user: a second one prints which one is running, and exits. `corral connect` starts a daemon if
none is running, so this command is for service managers (`corral service install`), for clients that connect by URL, and for
debugging. With a command after `--`, a second daemon serves only that command, in this directory and with this environment.
SIGTERM, SIGINT and Ctrl+C end all sessions and servers, each within its grace period; a second signal shortens that period.
A changed configuration is applied at once, and on SIGHUP or `corral reload`.
Exit code: 0 after a normal end; 1 if it cannot start or another daemon is running (0 with --background and --auto);
128+n if signal n ended the daemon.)";

}  // namespace

Command serve_command() {
  // Shared with the callbacks below, which live as long as the command.
  auto options = std::make_shared<serve::ServeOptions>();

  Command command;
  command.name = "serve";
  command.summary = "Run the daemon, through which clients share servers.";
  command.usage = "corral serve [options] [-- COMMAND [ARG...]]";
  command.examples = kExamples;
  command.runs_program = true;
  const auto add = [&command](std::string names, std::string value, std::string help, Apply apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), std::move(apply)});
  };
  add("--config", "FILE", "Configuration file (~/.config/corral/config.json, which may be missing)",
      set_word(options->config));
  add("--runtime-dir", "DIR",
      "Directory for socket, lock and pid file (/run/user/UID/corral or /tmp/corral-UID)",
      set_word(options->runtime_dir));
  add("--pid-file", "FILE",
      "Pid file with three lines: pid, version, start time (corral.pid in the runtime directory)",
      set_word(options->pid_file));
  add("--state-dir", "DIR",
      "Directory for data about servers (~/.local/state/corral, or `state` in the directory of "
      "--runtime-dir)",
      set_word(options->state_dir));
  add("--port", "N",
      "Also serve clients that connect by URL, on this TCP port (8765 with a command; 0 = any free port)",
      set_port(options->port));
  add("--bind", "ADDRESS",
      "Address of that port (127.0.0.1); other machines need a token, see `corral token`",
      set_word(options->bind));
  add("--replace", "", "End the running daemon and replace it", set_flag(options->replace));
  add("--background", "",
      "Return when the daemon answers, and print its pid and socket; its log is daemon.log next to the "
      "socket",
      set_flag(options->background));
  add("--auto", "",
      "Exit a few minutes after the last session (corral.linger); `connect` starts the daemon in this way",
      set_flag(options->automatic));
  add("--log", "text|json|auto", "Log format; auto is a text for people on a terminal, otherwise JSON (auto)",
      [options](const std::string& form) {
        if (!events::log_form_called(form))
          return Result<void>(Error{"invalid log format '" + form + "': use text, json or auto"});
        options->log = form;
        return Result<void>();
      });
  command.run = [options](std::vector<std::string> tail) {
    if (!tail.empty() && !serve::is_from_janitor(tail) && !came_after_dashes(tail)) {
      return fail("serve", "unexpected argument '" + tail.front() + "': put the command to serve after `--`");
    }
    (serve::is_from_janitor(tail) ? options->from_janitor : options->command) = std::move(tail);
    return serve::serve(*options);
  };
  return command;
}

}  // namespace corral::cli
