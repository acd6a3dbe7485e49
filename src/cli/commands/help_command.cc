// `corral help`: the page of all commands, or the help of one.
#include "cli/frame/help_page.h"

#include <iostream>

#include "cli/frame/command.h"
#include "cli/frame/parser.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral help
  corral help connect       the same as `corral connect --help`)";

int run(const std::vector<std::string>& args) {
  if (args.empty()) {
    std::cout << help_page(all_commands());
    return 0;
  }
  if (args.size() > 1) return fail("help", "unexpected argument '" + args[1] + "': give one command");
  // An option's name would be taken as the option of corral itself.
  if (args.front().starts_with('-'))
    return fail("help", "'" + args.front() + "' is not a command; see `corral --help`");
  return parse_and_run(all_commands(), {args.front(), "--help"});
}

}  // namespace

Command help_command() {
  Command command;
  command.name = "help";
  command.summary = "List the commands, or explain one.";
  command.usage = "corral help [COMMAND]";
  command.examples = kExamples;
  command.run = run;
  return command;
}

}  // namespace corral::cli
