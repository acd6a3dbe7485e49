#include "cli/frame/help_page.h"

#include <algorithm>

#include "version.h"

namespace corral::cli {
namespace {

const char* title_of(HelpGroup group) {
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
  return title_of(group) + (names.empty() ? std::string() : "  (also: " + names + ")");
}

/// A word and what to use instead. Some words have several meanings elsewhere; the sentence then has one part
/// for each.
struct Instead {
  std::string_view words;  // separated by spaces, with one at each end
  const char* sentence;
};

constexpr Instead kInstead[] = {
    {" setup install init configure ",
     "`corral adopt` puts corral in front of the servers of your clients, `corral add NAME -- COMMAND` adds "
     "a "
     "server, and `corral service install` installs the daemon as a service"},
    {" wrap register integrate ",
     "`corral adopt` puts corral in front of the servers of your clients, `corral add NAME -- COMMAND` adds "
     "a "
     "server"},
    {" unwrap undo revert restore ",
     "`corral release` takes corral away from the servers of your clients, `corral remove NAME` removes a "
     "server"},
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

/// One character for each code point.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

/// Words up to `width`; all lines but the first begin with `indent` spaces. `line` is the beginning.
std::string filled(std::string line, std::string_view text, std::size_t indent, std::size_t width) {
  std::string page;
  bool empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!empty && columns_of(line) + 1 + columns_of(word) > width) {
      page += line + '\n';
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return page + line + '\n';
}

/// "  -v,--verbose   text": the text is filled below itself. A line without a right column stays as it is.
std::string filled_row(std::string_view line, std::size_t width) {
  if (columns_of(line) <= width) return std::string(line) + '\n';
  constexpr std::size_t kLeastColumn = 10;
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t gap = begin == std::string_view::npos ? begin : line.find("  ", begin);
  const std::size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  constexpr std::size_t kLeastRoom = 30;
  if (text == std::string_view::npos) {
    // What stands alone in the right column belongs to a long option above it.
    const bool in_column =
        begin != std::string_view::npos && begin >= kLeastColumn && begin + kLeastRoom <= width;
    if (!in_column) return std::string(line) + '\n';
    return filled(std::string(begin, ' '), line.substr(begin), begin, width);
  }
  const std::size_t column = columns_of(line.substr(0, text));
  if (column + kLeastRoom <= width) {
    return filled(std::string(line.substr(0, text)), line.substr(text), column, width);
  }
  const std::size_t below = begin + 4;
  return std::string(line.substr(0, gap)) + '\n' +
         filled(std::string(below, ' '), line.substr(text), below, width);
}

}  // namespace

std::string filled_help(const std::string& text, std::size_t width) {
  std::string page;
  std::string prose;
  const auto end_prose = [&] {
    if (!prose.empty()) page += filled("", prose, prose.starts_with("Usage: ") ? 7 : 0, width);
    prose.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const bool row = line.empty() || line.front() == ' ';
    if (row || line.starts_with("Usage: ") || line.starts_with("Exit code:")) end_prose();
    if (row) {
      if (line.empty() && page.ends_with("\n\n")) continue;
      page += filled_row(line, width);
    } else {
      prose.append(prose.empty() ? "" : " ").append(line);
    }
  }
  end_prose();
  return page;
}

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
