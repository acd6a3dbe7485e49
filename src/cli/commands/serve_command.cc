// `corral serve`: the daemon.
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/late_options.h"
#include "cli/frame/option_values.h"
#include "events/event_log.h"
#include "serve/service.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral serve                                  in the foreground; Ctrl+C ends it
  corral serve --background                     returns when it answers
  corral serve --replace                        after an upgrade
  corral serve --config ./servers.json --runtime-dir /tmp/try
  corral serve --port 8765                      also by URL: http://127.0.0.1:8765/mcp/NAME (docs/http.md)
  corral serve --port 8765 -- npx -y some-server     one server without any configuration, at /mcp and /sse

One daemon per user: a second one says who runs already, and leaves. `corral connect` starts one by itself where none
runs, so this command is for service managers (`corral service install`), for clients that come by URL, and for looking
at it. With a command behind -- it serves that alone, beside the user's daemon, with the folder and the variables that it
was started with.
SIGTERM, SIGINT and Ctrl+C end every session and every server, each within its time; a second signal hastens that.
A changed configuration is taken over by itself, and on SIGHUP or `corral reload`.
Exit code: 0 after an orderly end; 1 if it cannot start or another one runs (0 with --background and --auto);
128+n if signal n ended the daemon.)";

}  // namespace

Command serve_command() {
  // Shared by the callbacks below, which the parser keeps as long as the command.
  auto options = std::make_shared<serve::ServeOptions>();

  Command command;
  command.name = "serve";
  command.summary = "Run the daemon through which clients share servers.";
  command.usage = "corral serve [options] [-- COMMAND [ARG...]]";
  command.examples = kExamples;
  const auto add = [&command](std::string names, std::string value, std::string help, Apply apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), std::move(apply)});
  };
  add("--config", "FILE", "The servers (~/.config/corral/config.json, which may be missing)",
      set_word(options->config));
  add("--runtime-dir", "DIR",
      "Folder of socket, lock and pid file (/run/user/UID/corral, else /tmp/corral-UID)",
      set_word(options->runtime_dir));
  add("--pid-file", "FILE", "Three lines: pid, version, start time (corral.pid in the runtime folder)",
      set_word(options->pid_file));
  add("--state-dir", "DIR",
      "Folder of what is known of servers (~/.local/state/corral; `state` in a runtime folder of your own)",
      set_word(options->state_dir));
  add("--port", "N",
      "Also serve clients that come by URL, at this TCP port (8765 with a command; 0: any free one)",
      set_port(options->port));
  add("--bind", "ADDRESS", "Where that port is (127.0.0.1); other machines need a token, see `corral token`",
      set_word(options->bind));
  add("--replace", "", "Ask the running daemon to leave, and take its place", set_flag(options->replace));
  add("--background", "",
      "Return when it answers, and say pid and socket; its log is daemon.log beside the socket",
      set_flag(options->background));
  add("--auto", "",
      "Leave some minutes after the last session (corral.linger); this is how `connect` starts it",
      set_flag(options->automatic));
  add("--log", "text|json|auto", "The form of the log; auto is text on a terminal, else JSON (auto)",
      [options](const std::string& form) {
        if (!events::log_form_called(form))
          return Result<void>(Error{"'" + form + "' is no form of a log: write text, json or auto"});
        options->log = form;
        return Result<void>();
      });
  command.run = [options](std::vector<std::string> tail) {
    if (!tail.empty() && !serve::is_from_janitor(tail) && !came_after_dashes(tail)) {
      return fail("serve", "unexpected '" + tail.front() + "': a command to serve stands behind --");
    }
    (serve::is_from_janitor(tail) ? options->from_janitor : options->command) = std::move(tail);
    return serve::serve(*options);
  };
  return command;
}

}  // namespace corral::cli
