#include "cli/direct/direct_options.h"

#include <algorithm>
#include <utility>

#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "shim/root.h"

namespace corral::cli {
namespace {

constexpr const char* kNoServer =
    "no server given: name a configured server, or put a command after `--`; see --help";

Apply pass_on(const std::shared_ptr<DirectOptions>& options, std::string name) {
  return [options, name = std::move(name)](const std::string& text) -> Result<void> {
    options->connect.push_back(name);
    if (!text.empty()) options->connect.push_back(text);
    return {};
  };
}

Apply pass_on_word(const std::shared_ptr<DirectOptions>& options, std::string name) {
  return [pass = pass_on(options, std::move(name))](const std::string& text) -> Result<void> {
    if (text.empty()) return Error{"the value is empty"};
    return pass(text);
  };
}

Result<void> set_output(Output& output, const std::string& text) {
  if (text != "text" && text != "json")
    return Error{"invalid output format '" + text + "': use text or json"};
  output = text == "json" ? Output::Json : Output::Text;
  return {};
}

Result<void> apply_late(const std::vector<Option>& late, std::vector<std::string>& args) {
  Result<std::vector<std::string>> rest = apply_late_options(late, args);
  if (!rest) return rest.error();
  args = std::move(*rest);
  return {};
}

Result<Target> named(const std::vector<Option>& late, std::vector<std::string> args) {
  const Result<void> taken = apply_late(late, args);
  if (!taken) return taken.error();
  if (args.empty() || args.front().empty()) return Error{kNoServer};
  Target target{{args.front(), {}}, {}};
  target.args.assign(args.begin() + 1, args.end());
  return target;
}

}  // namespace

void add_direct_options(Command& command, const std::shared_ptr<DirectOptions>& options) {
  const auto add = [&command](std::string names, std::string value, std::string help, Apply apply) {
    command.options.push_back({std::move(names), std::move(value), std::move(help), std::move(apply)});
  };
  add("--output", "HOW", "Output format: text, or json with all details",
      [options](const std::string& text) { return set_output(options->output, text); });
  add("--timeout", "TIME", "Maximum time for each answer, such as 30s (5m)", set_duration(options->timeout));
  add("--session", "ID", "Attach to this session; see `corral session --help`",
      pass_on_word(options, "--session"));
  add("--root", "DIR", "The root directory of the project, instead of the working directory",
      [pass = pass_on_word(options, "--root")](const std::string& text) -> Result<void> {
        const Result<std::string> root = shim::find_root(text);
        return root ? pass(*root) : root.error();
      });
  add("--share", "HOW", "shared, session or root, as in `corral connect`",
      [pass = pass_on_word(options, "--share")](const std::string& text) -> Result<void> {
        if (text == "shared" || text == "session" || text == "root") return pass(text);
        return Error{"invalid value '" + text + "': use shared, session or root"};
      });
  add("--runtime-dir", "DIR", "Directory of the daemon's socket, instead of the usual one",
      pass_on_word(options, "--runtime-dir"));
  add("--config", "FILE", "Configuration for a daemon that this command starts, and for running without one",
      pass_on_word(options, "--config"));
  add("--require-daemon", "", "Fail if no daemon is available", pass_on(options, "--require-daemon"));
  add("-v,--verbose", "", "Print progress messages to stderr", pass_on(options, "--verbose"));
}

std::vector<std::string> connect_args(const DirectOptions& options, const Server& server) {
  std::vector<std::string> args = {"connect", "--quiet"};
  args.insert(args.end(), options.connect.begin(), options.connect.end());
  if (server.command.empty()) {
    args.push_back(server.name);
  } else {
    args.emplace_back("--");
    args.insert(args.end(), server.command.begin(), server.command.end());
  }
  return args;
}

Result<Target> find_target(const std::vector<Option>& late, std::vector<std::string> args) {
  if (args.empty()) return Error{kNoServer};
  if (!came_after_dashes(args)) return named(late, std::move(args));
  // The command may contain `--` itself, the arguments of a tool hardly ever, so the last `--` separates
  // them.
  const auto last = std::find(args.rbegin(), args.rend(), "--");
  Target target;
  if (last != args.rend()) {
    target.server.command.assign(args.begin(), last.base() - 1);
    target.args.assign(last.base(), args.end());
  } else {
    Result<std::vector<std::string>> command = split_line(args.front());
    if (!command) return command.error();
    target.server.command = std::move(*command);
    target.args.assign(args.begin() + 1, args.end());
  }
  if (target.server.command.empty() || target.server.command.front().empty()) return Error{kNoServer};
  if (last == args.rend() && !target.args.empty() && target.args.front().starts_with('-')) {
    return Error{"'" + target.args.front() +
                 "' is not the name of a tool: put another `--` between a command of several words and the "
                 "tool, as in `-- npx -y some-server -- TOOL`"};
  }
  const Result<void> taken = apply_late(late, target.args);
  if (!taken) return taken.error();
  return target;
}

Result<Target> find_lone_target(const std::vector<Option>& late, std::vector<std::string> args) {
  if (args.empty() || args.front().empty()) return Error{kNoServer};
  if (!came_after_dashes(args)) return named(late, std::move(args));
  return Target{{"", std::move(args)}, {}};
}

Result<std::vector<std::string>> split_line(const std::string& line) {
  std::vector<std::string> parts;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) parts.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      const bool escapes = c == '\\' && quote != '\'' && i + 1 < line.size();
      if (escapes && (quote == 0 || line[i + 1] == '"' || line[i + 1] == '\\')) c = line[++i];
      parts.back() += c;
    }
  }
  if (quote != 0) return Error{std::string("the command has a ") + quote + " that is not closed"};
  return parts;
}

}  // namespace corral::cli
