// All commands, one row each, in the order in which the help shows them: first those that have a line of
// their own in its group, then those that it only names.
#include "cli/frame/command.h"

// clang-format off
#define CORRAL_COMMANDS(ROW) \
  ROW(connect,     Use,        Line)  \
  ROW(run,         Use,        Line)  \
  ROW(add,         Use,        Line)  \
  ROW(adopt,       Use,        Line)  \
  ROW(tools,       Use,        Line)  \
  ROW(call,        Use,        Line)  \
  ROW(session,     Use,        Name)  \
  ROW(url,         Use,        Name)  \
  ROW(remove,      Use,        Name)  \
  ROW(release,     Use,        Name)  \
  ROW(import,      Use,        Name)  \
  ROW(uninstall,   Use,        Name)  \
  ROW(mcp,         Use,        Name)  \
  ROW(list,        Look,       Line)  \
  ROW(ps,          Look,       Line)  \
  ROW(top,         Look,       Line)  \
  ROW(logs,        Look,       Line)  \
  ROW(why,         Look,       Name)  \
  ROW(events,      Look,       Name)  \
  ROW(info,        Look,       Name)  \
  ROW(status,      Look,       Name)  \
  ROW(who,         Look,       Name)  \
  ROW(doctor,      Repair,     Line)  \
  ROW(reap,        Repair,     Line)  \
  ROW(bundle,      Repair,     Name)  \
  ROW(restart,     Repair,     Name)  \
  ROW(stop,        Repair,     Name)  \
  ROW(start,       Repair,     Name)  \
  ROW(reload,      Repair,     Name)  \
  ROW(shutdown,    Repair,     Name)  \
  ROW(watch,       Repair,     Name)  \
  ROW(guard,       Repair,     Name)  \
  ROW(serve,       Administer, Line)  \
  ROW(config,      Administer, Name)  \
  ROW(service,     Administer, Name)  \
  ROW(token,       Administer, Name)  \
  ROW(completions, Administer, Name)  \
  ROW(man,         Administer, Name)  \
  ROW(help,        Administer, Name)  \
  ROW(version,     Administer, Name)
// clang-format on

namespace corral::cli {

#define CORRAL_DECLARE(name, group, in_help) Command name##_command();
CORRAL_COMMANDS(CORRAL_DECLARE)

namespace {

Command placed(Command command, HelpGroup group, InHelp in_help) {
  command.group = group;
  command.in_help = in_help;
  return command;
}

}  // namespace

std::vector<Command> all_commands() {
#define CORRAL_MAKE(name, group, in_help) placed(name##_command(), HelpGroup::group, InHelp::in_help),
  std::vector<Command> commands = {CORRAL_COMMANDS(CORRAL_MAKE)};
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  for (Command& command : commands) {
    if (command.name == "help" || command.name == "man") command.argument = {Argument::Kind::Choice, names};
  }
  return commands;
}

#undef CORRAL_COMMANDS
#undef CORRAL_DECLARE
#undef CORRAL_MAKE

}  // namespace corral::cli
