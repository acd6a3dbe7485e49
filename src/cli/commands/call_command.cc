// `corral call`: calls one tool of a server, or with --batch many of them in one session.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/direct/call_batch.h"
#include "cli/direct/direct_options.h"
#include "cli/direct/elicitation.h"
#include "cli/direct/mcp_client.h"
#include "cli/direct/tool_arguments.h"
#include "cli/direct/tool_catalog.h"
#include "cli/direct/tool_result.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_layout.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral call files read_file path=README.md
  corral call files list limit=10 deep=true 'tags:=["a","b"]'
  corral call files search --json '{"pattern": "main", "limit": 10}'
  echo '{"pattern": "main"}' | corral call files search -
  corral call -- ./server echo message=hello             a one-word command, or a whole command in quotes
  corral call -- npx -y some-server -- echo message=hello
  corral call files --batch < calls.jsonl                {"tool": "echo", "arguments": {…}, "id": 7} on each line
  corral call --batch -- npx -y some-server . < calls.jsonl

The tool's schema decides how key=value is read: a string as it is; a number, boolean, list or object as JSON. key:=value is
always JSON. The text of the result goes to stdout and the server's log messages go to stderr; --output json prints the
complete result. On a terminal, corral shows progress and asks you the questions of the server. Ctrl+C cancels the call.
--batch writes {"id", "exit", "result" or "error"} for each line, in order.
Exit code: 0; 1 the tool reported a failure; 2 invalid options, tool or arguments (nothing was called); 3 the server
returned an error; 4 the server was not reachable, or exited; 124 timeout; 128+n if signal n ended it (Ctrl+C: 130). For a
batch: the exit code of the first call that failed. docs/direct.md has more.)";

struct Options {
  std::shared_ptr<DirectOptions> direct = std::make_shared<DirectOptions>();
  std::optional<std::string> json;
  bool batch = false;
};

int refuse(const std::string& sentence, int code) {
  fail("call", sentence);
  return code;
}

/// A terminal gets no control characters; a program gets every byte.
std::string fitting(const std::string& text, int fd) { return isatty(fd) == 1 ? printable_text(text) : text; }

// ---- notifications and questions during the call

Hooks make_hooks(const Options& options, StatusLine& status, Interrupts& interrupts) {
  Hooks hooks;
  hooks.log = [&status](std::string_view params) {
    status.clear();
    std::cerr << shown_log(params) << '\n';
  };
  if (isatty(STDERR_FILENO) == 1) {
    hooks.progress = [&status](std::string_view params) { status.show(shown_progress(params)); };
  }
  if (has_person() && !options.batch) {
    hooks.elicit = [&status, &interrupts](std::string_view params) {
      status.clear();
      return ask_person(params, interrupts);
    };
  }
  return hooks;
}

// ---- one call

/// The call as far as the command line describes it, before the server's schema is known.
struct CallRequest {
  std::string tool;
  std::vector<std::string> args;    // key=value
  std::optional<std::string> json;  // instead of them
};

Result<CallRequest> make_wish(const Options& options, std::vector<std::string> args, Interrupts& interrupts) {
  if (args.empty() || args.front().empty()) {
    return Error{"no tool given: `corral tools NAME` lists the tools of a server"};
  }
  CallRequest request{args.front(), {args.begin() + 1, args.end()}, std::nullopt};
  const bool from_input = request.args.size() == 1 && request.args.front() == "-";
  if (!options.json && !from_input) return request;
  if (options.json && !request.args.empty()) {
    return Error{"'" + request.args.front() +
                 "' and --json: give the arguments either as key=value or as JSON, not both"};
  }
  request.args.clear();
  const Result<std::string> text =
      from_input ? read_input(interrupts) : Result<std::string>(boost::system::in_place_value, *options.json);
  if (!text) return text.error();
  if (interrupts.signal() != 0) return request;
  const Result<std::string> object = arguments_from_json(*text, from_input ? "on stdin" : "of --json");
  if (!object) return object.error();
  request.json = *object;
  return request;
}

int show(const Answer& answer, Output output) {
  const int code = exit_code_of(answer);
  if (!answer.ok()) return refuse(printable_line(answer.message), code);
  if (output == Output::Json) {
    std::cout << json_for(STDOUT_FILENO, on_one_line(answer.json)) << '\n' << std::flush;
  } else if (code != 0) {
    std::cerr << fitting(shown_result(answer.json), STDERR_FILENO);
  } else {
    std::cout << fitting(shown_result(answer.json), STDOUT_FILENO) << std::flush;
  }
  return std::cout ? code : refuse("cannot write to stdout (is the pipe closed?)", 125);
}

int call(const Options& options, const Server& server, const CallRequest& request, McpClient& client,
         ToolCatalog& catalog, StatusLine& status) {
  const Tool* const tool = find_tool(client, catalog, request.tool);
  if (tool == nullptr) {
    const Answer why = catalog.why_missing(request.tool, server.title());
    return refuse(printable_line(why.message), why.exit_code);
  }
  Result<std::string> arguments = request.json
                                      ? Result<std::string>(boost::system::in_place_value, *request.json)
                                      : arguments_from_pairs(schema_of(*tool), request.args);
  if (!arguments) return refuse(request.tool + ": " + arguments.error().message, kBadArguments);
  const Answer answer = call_tool(client, *tool, *arguments);
  status.clear();
  return show(answer, options.direct->output);
}

// ---- the command

int run(Options& options, const std::vector<Option>& late, std::vector<std::string> args) {
  const Result<Target> target =
      options.batch ? find_lone_target(late, std::move(args)) : find_target(late, std::move(args));
  if (!target) return refuse(target.error().message, kBadArguments);
  if (options.batch && (!target->args.empty() || options.json)) {
    return refuse("--batch reads tools and arguments from stdin: remove them from the command line",
                  kBadArguments);
  }
  Interrupts interrupts;
  CallRequest request;
  if (!options.batch) {
    Result<CallRequest> made = make_wish(options, target->args, interrupts);
    if (!made) return refuse(made.error().message, kBadArguments);
    if (const int signo = interrupts.signal(); signo != 0) return 128 + signo;
    request = std::move(*made);
  }
  StatusLine status;
  McpClient client(interrupts, make_hooks(options, status, interrupts), options.direct->timeout);
  const Answer begun = client.begin(connect_args(*options.direct, target->server));
  if (!begun.ok()) return refuse(printable_line(begun.message), begun.exit_code);
  ToolCatalog catalog = list_tools(client);
  if (!catalog.answer.ok()) return refuse(printable_line(catalog.answer.message), catalog.answer.exit_code);
  const int code = options.batch ? run_batch(client, catalog, target->server.title(), interrupts)
                                 : call(options, target->server, request, client, catalog, status);
  client.end();
  return code;
}

}  // namespace

Command call_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "call";
  command.summary = "Call a tool of an MCP server.";
  command.usage =
      "corral call [options] NAME TOOL [key=value...] | -- COMMAND [ARG... --] TOOL [key=value...]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.runs_program = true;
  command.usage_code = kBadArguments;
  command.options.push_back({"--json", "OBJECT", "The arguments as a JSON object, instead of key=value",
                             [options](const std::string& text) -> Result<void> {
                               options->json = text;
                               return {};
                             }});
  command.options.push_back({"--batch", "", "Read calls as JSON lines from stdin and run them in one session",
                             set_flag(options->batch)});
  add_direct_options(command, options->direct);
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> args) {
    return run(*options, late, std::move(args));
  };
  return command;
}

}  // namespace corral::cli
