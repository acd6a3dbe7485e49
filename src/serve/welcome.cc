#include "serve/welcome.h"

#include <algorithm>

#include "base/text.h"
#include "version.h"

namespace corral::serve {
namespace {

constexpr std::size_t kMostNames = 5;
constexpr std::size_t kRoomForNames = 56;  // of 80 columns, behind the label and before " and 10 more"

/// As many as fit on the line, and at least one.
std::string names_of(const std::vector<std::string>& servers) {
  std::string text = printable(servers.front());
  std::size_t shown = 1;
  for (; shown < std::min(servers.size(), kMostNames); ++shown) {
    const std::string name = ", " + printable(servers[shown]);
    if (text.size() + name.size() > kRoomForNames) break;
    text += name;
  }
  if (servers.size() > shown) text += " and " + std::to_string(servers.size() - shown) + " more";
  return text;
}

std::string row(const std::string& label, const std::string& text) {
  return "  " + label + std::string(10 - label.size(), ' ') + text + '\n';
}

std::string configured(const Welcome& daemon) {
  if (!daemon.config_found) {
    return row("servers", "none configured: there is no file") + row("", printable(daemon.config)) +
           row("", "`corral add NAME -- COMMAND` or `corral import FILE` adds some") +
           row("clients", "corral connect -- COMMAND     starts a server for any client");
  }
  if (daemon.servers.empty()) {
    return row("servers", "none configured; `corral add NAME -- COMMAND` adds one") +
           row("from", printable(daemon.config));
  }
  const std::string name = printable(daemon.servers.front());
  return row("servers", names_of(daemon.servers)) + row("from", printable(daemon.config)) +
         row("clients", "start `corral connect " + name + "`") + row("try it", "`corral tools " + name + "`");
}

}  // namespace

std::string welcome_text(const Welcome& daemon) {
  std::string text = std::string("corral ") + kVersion + " serves, as process " + std::to_string(daemon.pid) +
                     ". Ctrl+C ends it and all its servers.\n";
  if (!daemon.command.empty()) {
    text += row("server", printable(daemon.command));
    text += row("by URL", daemon.url + "/mcp");
    text += row("", daemon.url + "/sse     for old clients");
    // In a line of its own: it is for copying, and a name may be long.
    return text + row("clients", "add it, as in") + "  claude mcp add --transport http " +
           printable(daemon.command) + " " + daemon.url + "/mcp\n";
  }
  text += configured(daemon);
  text += daemon.url.empty() ? row("by URL", "not without `corral serve --port 8765`")
                             : row("by URL", daemon.url + "/mcp/NAME");
  return text + row("look", "`corral ps`, `corral top`");
}

}  // namespace corral::serve
