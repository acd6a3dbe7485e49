// `corral connect`: a server that the user's daemon runs, in place of one that the client would start.
#include <memory>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/late_options.h"
#include "cli/frame/option_values.h"
#include "shim/connect.h"
#include "shim/root.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral connect filesystem
  corral connect -- npx -y @modelcontextprotocol/server-filesystem .
  corral connect --share session -- node server.js
  corral connect --root ~/project filesystem    one server for each project, with "share": "root"
  corral connect --session "$ID" filesystem     belongs to a session: see `corral session --help`

In a client's configuration:
  "command": "corral", "args": ["connect", "filesystem"]
  "command": "corral", "args": ["connect", "--", "npx", "-y", "some-server"]

A daemon is started if none runs. If none can be had, the server runs here as with `corral run`, and one line on stderr
says why. The session ends when stdin closes, nobody reads stdout, the parent dies, or corral gets SIGTERM, SIGINT,
SIGHUP or SIGQUIT from a process.
Exit code: what the daemon says of the session; 128+n if signal n ended it; 69 no daemon, but one is needed
(--require-daemon, --session, or an entry with a list of tools); 75 the daemon died; 125 corral's own failure.)";

Result<void> set_share(std::string& share, const std::string& text) {
  if (text != "shared" && text != "session" && text != "root") {
    return Error{"'" + text + "' is no way to share: write shared, session or root"};
  }
  share = text;
  return {};
}

int connect(shim::ConnectOptions& options, const std::vector<Option>& late, std::vector<std::string> args) {
  if (args.empty() || args.front().empty()) {
    return fail("connect",
                "nothing to connect to: name a configured server, or a command behind --, as in "
                "`corral connect -- npx -y some-server`");
  }
  const bool command = came_after_dashes(args);
  if (!command) {
    Result<std::vector<std::string>> rest = apply_late_options(late, args);
    if (!rest) return fail("connect", rest.error().message);
    args = std::move(*rest);
  }
  if (command) {
    options.argv = std::move(args);
  } else if (args.size() == 1) {
    options.server = std::move(args.front());
  } else {
    return fail("connect", "too many words: `corral connect " + args.front() +
                               "` uses the server of that name; a command stands behind --");
  }
  return shim::connect(options);
}

}  // namespace

Command connect_command() {
  auto options = std::make_shared<shim::ConnectOptions>();
  Command command;
  command.name = "connect";
  command.summary = "Use an MCP server through the daemon, which shares it where that is safe.";
  command.usage = "corral connect [options] NAME | -- COMMAND [ARG...]";
  command.examples = kExamples;
  const auto add = [&command](std::string names, std::string value, std::string help, auto apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), apply});
  };
  add("--runtime-dir", "DIR", "Where to meet the daemon, instead of the user's own place",
      set_word(options->runtime_dir));
  add("--config", "FILE", "Configuration for a daemon that is started here, and for going without one",
      set_word(options->config_file));
  add("--share", "shared|session|root", "One server for all, for this session alone, or for each project",
      [options](const std::string& text) { return set_share(options->share, text); });
  add("--root", "DIR", "The project that this is about, instead of the working directory",
      [options](const std::string& text) -> Result<void> {
        const Result<std::string> root = shim::find_root(text);
        if (!root) return root.error();
        options->root = *root;
        return {};
      });
  add("--session", "ID", "The session that this belongs to, and ends with; its servers are found first",
      set_word(options->session));
  add("--require-daemon", "", "Fail with exit code 69 where no daemon can be had",
      set_flag(options->require_daemon));
  add("-v,--verbose", "", "Say on stderr what happens", set_flag(options->verbose));
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> tail) {
    return connect(*options, late, std::move(tail));
  };
  return command;
}

}  // namespace corral::cli
