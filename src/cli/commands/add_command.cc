// `corral add`: adds a server to the configuration.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/commands/config_change.h"
#include "cli/commands/entry_check.h"
#include "cli/commands/next_steps.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/entry.h"
#include "config/merge.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral add fetch --share shared -- uvx mcp-server-fetch
  corral add files --share root -- npx -y some-server '${CORRAL_ROOT}'
  corral add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' -- github-mcp-server
  corral add --try memory -- npx -y @modelcontextprotocol/server-memory

Write the server's command after `--`, as a client would run it. ${VAR} in single quotes is expanded when a client connects.
The rest of the file, including its comments, does not change, and the old version is kept next to it. A running daemon
applies the change. A command or a variable that cannot be resolved in this shell is a warning.
Exit code: 0, or 1 if nothing was changed: also if --try has failed. docs/configuration.md explains every key.)";

constexpr const char* kUsage =
    "give a name and, after `--`, the server's command, as in `corral add fetch -- uvx mcp-server-fetch`";

struct AddOptions {
  ConfigChange change{"add", "", ""};
  std::string share;
  json::object env;
  std::string cwd;
  bool replace = false;
  bool trial = false;
};

Result<void> set_share(std::string& share, const std::string& text) {
  constexpr std::array<std::string_view, 4> kWords = {"auto", "shared", "session", "root"};
  if (std::find(kWords.begin(), kWords.end(), text) == kWords.end()) {
    return Error{"invalid value '" + text + "': use auto, shared, session or root"};
  }
  share = text;
  return {};
}

Result<void> add_variable(json::object& env, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || text.empty()) return Error{"the variable has no name: use NAME=VALUE"};
  if (equals == std::string::npos) {
    return Error{"'" + text + "' has no value: use NAME=VALUE, or '" + text + "=${" + text +
                 "}' to copy it from each client"};
  }
  env[text.substr(0, equals)] = text.substr(equals + 1);
  return {};
}

/// The configuration is read by processes with different working directories, so its paths must be absolute.
Result<void> set_directory(std::string& cwd, const std::string& text) {
  if (text.empty()) return Error{"the value is empty: name a directory, or omit the option"};
  std::error_code unknown;
  std::string whole = std::filesystem::absolute(text, unknown).lexically_normal().string();
  if (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  cwd = text.starts_with("${") || unknown ? text : whole;
  return {};
}

json::object entry_of(const AddOptions& options, const std::vector<std::string>& command) {
  json::object entry{{"command", command.front()}};
  if (command.size() > 1) entry["args"] = json::array(command.begin() + 1, command.end());
  if (!options.env.empty()) entry["env"] = options.env;
  if (!options.cwd.empty()) entry["cwd"] = options.cwd;
  if (!options.share.empty()) entry["corral"] = {{"share", options.share}};
  return entry;
}

/// The keys of the entry that an administrator may have locked, with the options that set them.
std::vector<std::pair<std::string, std::string>> given_options(const AddOptions& options) {
  std::vector<std::pair<std::string, std::string>> given;
  if (!options.share.empty()) given.emplace_back("share", "--share");
  if (!options.env.empty()) given.emplace_back("env", "--env");
  if (!options.cwd.empty()) given.emplace_back("cwd", "--cwd");
  return given;
}

/// The new entry as the daemon would read it. An error says what is wrong, without the position in the text,
/// because the user has not seen that text.
Result<config::Server> read_entry(const std::string& name, const json::object& entry) {
  const json::value alone = {{"mcpServers", {{name, entry}}}};
  const Result<config::Configuration> read = config::parse(json::serialize(alone), "");
  if (!read) {
    const std::string& message = read.error().message;
    const std::size_t place = message.find(": ");
    return Error{place == std::string::npos ? message : message.substr(place + 2)};
  }
  const config::Server* const server = read->find(name);
  if (server == nullptr) return Error{"the entry describes no server that corral can run"};
  return *server;
}

/// Prints the warnings about the new entry. Warnings about the rest of the file are for `corral config
/// check`.
void warn(Page& page, const std::string& file, const config::Server& server) {
  const Result<config::Configuration> now = config::read(file);
  if (now) {
    for (const std::string& warning : now->warnings) {
      if (warning.find("server '" + server.name + "'") == std::string::npos) continue;
      page.paragraph("warning: ", printable(warning));
    }
  }
  for (const std::string& doubt : doubts_about(server, client_environment())) {
    page.paragraph("warning: ", printable(doubt) + " It was added anyway.");
  }
  for (const std::string& warning : credential_warnings(server, shorten_home(file))) {
    page.paragraph("warning: ", printable(warning));
  }
}

/// For --try: the exit code if the server must not be added.
std::optional<int> refuse_if_it_fails(const config::Server& server) {
  Interrupts interrupts;
  const Result<std::string> tried = try_server(server, interrupts);
  if (!tried) {
    std::cerr << "corral add: '" << printable(server.name)
              << "' is not added, because it did not start: " << tried.error().message << "\n";
    return 1;
  }
  Page(std::cout, terminal_style(STDOUT_FILENO))
      .paragraph("", "Tried " + printable(server.name) + ": " + *tried + ".");
  return std::nullopt;
}

/// Then the change is refused anyway.
bool exists_already(const AddOptions& options, const std::string& name) {
  if (options.replace) return false;
  const Result<config::Configuration> now = config::read(options.change.config);
  const config::Server* const there = now ? now->find(name) : nullptr;
  return there != nullptr && there->file != now->machine_file;
}

int add(const AddOptions& options, const std::string& name, const std::vector<std::string>& command) {
  const std::string& file = options.change.config;
  if (const std::string objection = config::objection_to_name(name); !objection.empty()) {
    return refuse_change("add", objection + ". Choose another name.");
  }
  const json::object entry = entry_of(options, command);
  const Result<config::Server> server = read_entry(name, entry);
  if (!server) return refuse_change("add", server.error().message);
  const Result<MachineSays> machine = ask_machine(name, given_options(options));
  if (!machine) return refuse_change("add", machine.error().message);
  if (!machine->objection.empty()) return refuse_change("add", machine->objection);
  if (options.trial && !exists_already(options, name)) {
    if (const std::optional<int> code = refuse_if_it_fails(*server)) return *code;
  }
  bool replaced = false;
  const auto rewrite = [&](const std::string& old) -> Result<std::string> {
    const auto existing = options.replace ? config::Existing::Replace : config::Existing::Keep;
    Result<config::Merge> merge = config::merge_servers(old, file, {{name, entry}}, existing);
    if (!merge) return merge.error();
    if (!merge->kept.empty()) {
      return Error{"'" + name + "' is in '" + file + "' already. Use --replace to replace it."};
    }
    replaced = !merge->replaced.empty();
    return {boost::system::in_place_value, std::move(merge->text)};
  };
  const int code = change_configuration(options.change, rewrite, [&] {
    return (replaced ? "Replaced " + name + " in" : "Added " + name + " to");
  });
  if (code != 0) return code;
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  if (!machine->note.empty()) page.paragraph("", machine->note);
  warn(page, file, *server);
  show_next_steps(page, file, name);
  return 0;
}

int run(AddOptions& options, const std::vector<Option>& known, const std::vector<std::string>& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (dashes == args.end() || dashes + 1 == args.end()) return fail("add", kUsage);
  const Result<std::vector<std::string>> rest = apply_late_options(known, {args.begin(), dashes});
  if (!rest) return fail("add", rest.error().message);
  if (rest->size() != 1) return fail("add", kUsage);
  if (options.change.config.empty()) options.change.config = config::default_file();
  return add(options, rest->front(), {dashes + 1, args.end()});
}

}  // namespace

Command add_command() {
  auto options = std::make_shared<AddOptions>();
  Command command;
  command.name = "add";
  command.summary = "Add a server to corral's configuration.";
  command.usage = "corral add [options] NAME -- COMMAND [ARGUMENT...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Other;
  command.runs_program = true;
  command.options = options_of(options->change);
  command.options.push_back({"--share", "HOW",
                             "Which sessions use the same instance: auto, shared, session or root",
                             [options](const std::string& text) { return set_share(options->share, text); }});
  command.options.push_back(
      {"--env", "NAME=VALUE", "Set an environment variable of the server (repeatable)",
       [options](const std::string& text) { return add_variable(options->env, text); }});
  command.options.push_back(
      {"--cwd", "DIR", "Start the server in this directory instead of the client's",
       [options](const std::string& text) { return set_directory(options->cwd, text); }});
  command.options.push_back({"--replace", "",
                             "Replace an existing server of that name, but keep its other corral options",
                             set_flag(options->replace)});
  command.options.push_back({"--try", "", "Start the server once before it is added, and ask for its tools",
                             set_flag(options->trial)});
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    return run(*options, known, args);
  };
  return command;
}

}  // namespace corral::cli
