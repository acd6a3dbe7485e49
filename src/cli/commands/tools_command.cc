// `corral tools`: lists the tools of a server as text, as JSON, or in the format of a model vendor.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/direct/direct_options.h"
#include "cli/direct/mcp_client.h"
#include "cli/direct/tool_catalog.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/overview.h"
#include "cli/screen/page.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral tools files                            names and descriptions
  corral tools files read_file                  one tool, with the schema of its arguments
  corral tools -- npx -y some-server .          for a server that is not configured
  corral tools --tool echo -- npx -y some-server
  corral tools files --json                     complete descriptions from the server
  corral tools files --format anthropic         for a model call, as tools=; also openai and mcp

The list is always complete, even if the server sends it in several pages. `corral call` calls a tool.
Exit code: 0; 2 invalid options, or no such tool; 3 the server returned an error; 4 the server was not reachable; 124
timeout; 128+n if signal n ended it. docs/direct.md has more.)";

struct Options {
  std::shared_ptr<DirectOptions> direct = std::make_shared<DirectOptions>();
  std::string tool;
  bool json = false;
  std::optional<Format> format;
};

int refuse(const std::string& sentence, int code) {
  fail("tools", sentence);
  return code;
}

Result<void> set_format(std::optional<Format>& format, const std::string& text) {
  if (text == "mcp") {
    format = Format::Mcp;
  } else if (text == "anthropic") {
    format = Format::Anthropic;
  } else if (text == "openai") {
    format = Format::OpenAi;
  } else {
    return Error{"invalid format '" + text + "': use mcp, anthropic or openai"};
  }
  return {};
}

/// The first line of a description, which usually says what the tool is for.
std::string first_line(const std::string& description) {
  const std::size_t begin = description.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return printable_line(description.substr(begin, description.find('\n', begin) - begin));
}

/// Empty: the user's own place.
std::string runtime_dir_of(const DirectOptions& options) {
  const auto flag = std::find(options.connect.begin(), options.connect.end(), "--runtime-dir");
  return flag == options.connect.end() ? "" : *(flag + 1);
}

void show_table(const std::vector<Tool>& tools, const Server& server, const DirectOptions& options) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.heading("Tools of " + server.title() + ": " + std::to_string(tools.size()));
  if (server.command.empty()) {
    const auto status = status_if_running(runtime_dir_of(options), control::kTellPatience);
    if (status) show_about(page, "", overview_of(*status, server.name), server.name);
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(tools.size());
  for (const Tool& tool : tools) rows.push_back({printable_line(tool.name), first_line(tool.description)});
  if (!rows.empty()) page.table("  ", {{"TOOL"}, {"DESCRIPTION", false, true}}, rows);
}

void show_tool(const Tool& tool) {
  std::cout << printable_line(tool.name) << '\n';
  if (!tool.description.empty()) std::cout << '\n' << printable_text(tool.description) << '\n';
  std::cout << "\nArguments:\n" << printable_text(laid_out(schema_of(tool))) << '\n';
  const std::string_view output = wire::member(tool.json, "outputSchema").in(tool.json);
  if (!output.empty()) std::cout << "\nStructured result:\n" << printable_text(laid_out(output)) << '\n';
  const std::string_view notes = wire::member(tool.json, "annotations").in(tool.json);
  if (!notes.empty()) std::cout << "\nAnnotations:\n" << printable_text(laid_out(notes)) << '\n';
}

std::string as_json(const std::vector<Tool>& tools, const std::string& server) {
  const std::string_view info = wire::member(server, "serverInfo").in(server);
  const std::string_view version = wire::member(server, "protocolVersion").in(server);
  return wire::JsonObject()
      .raw("serverInfo", info.empty() ? "null" : on_one_line(info))
      .raw("protocolVersion", version)
      .raw("tools", in_format(tools, Format::Mcp))
      .json();
}

int show(const Options& options, const Target& target, McpClient& client, ToolCatalog& catalog) {
  const Tool* const one = options.tool.empty() ? nullptr : find_tool(client, catalog, options.tool);
  if (!options.tool.empty() && one == nullptr) {
    const Answer why = catalog.why_missing(options.tool, target.server.title());
    return refuse(printable_line(why.message), why.exit_code);
  }
  const std::vector<Tool> tools = one == nullptr ? catalog.tools : std::vector<Tool>{*one};
  const bool json = options.json || options.direct->output == Output::Json;
  if (options.format) {
    std::cout << json_for(STDOUT_FILENO, in_format(tools, *options.format)) << '\n';
  } else if (json) {
    std::cout << json_for(STDOUT_FILENO, one == nullptr ? as_json(tools, client.server()) : one->json)
              << '\n';
  } else if (one != nullptr) {
    show_tool(*one);
  } else {
    show_table(tools, target.server, *options.direct);
  }
  return std::cout.flush() ? 0 : refuse("cannot write to stdout (is the pipe closed?)", 125);
}

int run(Options& options, const std::vector<Option>& late, std::vector<std::string> args) {
  Result<Target> target = find_lone_target(late, std::move(args));
  if (!target) return refuse(target.error().message, kBadArguments);
  if (options.tool.empty() && !target->args.empty()) {
    options.tool = target->args.front();
    target->args.erase(target->args.begin());
  }
  if (!target->args.empty())
    return refuse("unexpected argument '" + target->args.front() + "'", kBadArguments);
  Interrupts interrupts;
  McpClient client(interrupts, {}, options.direct->timeout);
  const Answer begun = client.begin(connect_args(*options.direct, target->server));
  if (!begun.ok()) return refuse(printable_line(begun.message), begun.exit_code);
  ToolCatalog catalog = list_tools(client);
  if (!catalog.answer.ok()) return refuse(printable_line(catalog.answer.message), catalog.answer.exit_code);
  const int code = show(options, *target, client, catalog);
  client.end();
  return code;
}

}  // namespace

Command tools_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "tools";
  command.summary = "List the tools of an MCP server, for people, scripts and models.";
  command.usage = "corral tools [options] NAME [TOOL] | -- COMMAND [ARG...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.runs_program = true;
  command.usage_code = kBadArguments;
  command.options.push_back(
      {"--tool", "TOOL", "Only this tool, with its description and schema", set_word(options->tool)});
  command.options.push_back(
      {"--format", "FORMAT", "Print an array for a model call: mcp, anthropic or openai",
       [options](const std::string& text) { return set_format(options->format, text); }});
  command.options.push_back({"--json", "", "The same as --output json", set_flag(options->json)});
  add_direct_options(command, options->direct);
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> args) {
    return run(*options, late, std::move(args));
  };
  return command;
}

}  // namespace corral::cli
