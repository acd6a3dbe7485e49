#include "cli/frame/help_page.h"

#include <algorithm>

#include "version.h"

namespace corral::cli {
namespace {

const char* name_of(HelpGroup group) {
  switch (group) {
    case HelpGroup::Use: return "Use";
    case HelpGroup::Look: return "Look";
    case HelpGroup::Repair: return "Repair";
    case HelpGroup::Administer: break;
  }
  return "Administer";
}

/// "Use  (also: session, url)": the heading lists the commands that have no line of their own.
std::string heading(const std::vector<Command>& commands, HelpGroup group) {
  std::string names;
  for (const Command& command : commands) {
    if (command.group == group && command.in_help == InHelp::Name) {
      names += (names.empty() ? "" : ", ") + command.name;
    }
  }
  return name_of(group) + (names.empty() ? std::string() : "  (also: " + names + ")");
}

/// A word and what to use instead. Some words have several meanings elsewhere; the sentence then has one part
/// for each.
struct Instead {
  std::string_view words;  // separated by spaces, with one at each end
  const char* sentence;
};

constexpr Instead kInstead[] = {
    {" setup install init configure ",
     "`corral add NAME -- COMMAND` adds a server, `corral import FILE` copies those of a client, and "
     "`corral service install` installs the daemon as a service"},
    {" uninstall ", "`corral remove NAME` removes a server, `corral service uninstall` removes the service"},
    {" ls show servers configured ",
     "`corral list` lists what is configured, `corral ps` what is running, and `corral doctor` every MCP "
     "server on this machine"},
    {" kill end terminate ",
     "`corral stop NAME` ends a server, `corral reap` ends leaked servers, `corral shutdown` ends the "
     "daemon"},
    {" rm delete del unregister ", "`corral remove NAME` removes a server from the configuration"},
    {" quit exit down ", "`corral shutdown` ends the daemon and every server that it started"},
    {" clean cleanup prune gc ", "`corral doctor` shows leaked servers, `corral reap` ends them"},
    {" update upgrade self-update ",
     "install the new version, then `corral serve --replace` replaces the running daemon; `corral restart "
     "NAME` runs the new code of one server"},
    {" daemon server up ",
     "`corral serve` runs the daemon in the foreground, `corral serve --background` in the "
     "background; `corral connect` starts it by itself"},
    {" log tail ",
     "`corral logs NAME` shows what a server wrote to stderr, `corral events` what happened to servers"},
    {" exec execute npx ",
     "`corral run -- COMMAND` runs a server for one client, `corral connect -- COMMAND` "
     "shares it if that is safe"},
    {" use attach join ",
     "`corral connect NAME` is the command for a client; `corral call NAME TOOL` makes one call"},
    {" tool ", "`corral tools NAME` lists the tools of a server, `corral call NAME TOOL` calls one"},
    {" check validate lint verify ",
     "`corral config check` checks the configuration, `corral doctor` the machine"},
    {" edit set get ", "`corral config path` prints where the configuration is: edit that file"},
    {" register new create ", "`corral add NAME -- COMMAND` adds a server to the configuration"},
    {" history ", "`corral events` shows what happened to servers, `corral ps --last` how each ended"},
    {" metrics stats monitor ",
     "`corral top` shows what servers use, live; a daemon with a port has /metrics for Prometheus"},
    {" process processes pids ", "`corral ps` lists the servers, `corral ps --tree` every process of each"},
    {" enable resume unpause ", "`corral start NAME` allows a stopped server to run again"},
    {" disable pause ", "`corral stop NAME` ends a server, which stays stopped until `corral start NAME`"},
    {" completion ", "`corral completions bash` prints the completion script"},
};

}  // namespace

std::string help_page(const std::vector<Command>& commands) {
  std::size_t widest = 0;
  for (const Command& command : commands) {
    if (command.in_help == InHelp::Line) widest = std::max(widest, command.name.size());
  }
  std::string page =
      "corral runs MCP servers and ends all their processes when the session ends.\n"
      "Usage: corral COMMAND [options]        `corral help COMMAND` explains a command\n";
  for (const HelpGroup group : {HelpGroup::Use, HelpGroup::Look, HelpGroup::Repair, HelpGroup::Administer}) {
    if (std::none_of(commands.begin(), commands.end(),
                     [group](const Command& command) { return command.group == group; })) {
      continue;
    }
    page += '\n' + heading(commands, group) + '\n';
    for (const Command& command : commands) {
      if (command.group != group || command.in_help != InHelp::Line) continue;
      page +=
          "  " + command.name + std::string(widest + 2 - command.name.size(), ' ') + command.summary + '\n';
    }
  }
  return page;
}

std::string version_line() { return std::string("corral ") + kVersion + " (build " + kBuildDate + ")"; }

std::string instead_of(std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return "";
  const std::string wanted = " " + std::string(word) + " ";
  for (const Instead& one : kInstead) {
    if (one.words.find(wanted) != std::string_view::npos) return one.sentence;
  }
  return "";
}

}  // namespace corral::cli
