#include "cli/screen/first_page.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace corral::cli {
namespace {

constexpr std::size_t kMostNames = 4;

std::string clients_of(const FirstLook& look) {
  if (look.clients.empty()) return "none of your clients has MCP servers";
  std::string text;
  for (std::size_t i = 0; i < std::min(look.clients.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + look.clients[i];
  }
  if (look.clients.size() > kMostNames)
    text += " and " + std::to_string(look.clients.size() - kMostNames) + " more";
  return text + (look.running_clients > 0 ? "; " + counted(look.running_clients, "client") + " running" : "");
}

std::string servers_of(const FirstLook& look) {
  const std::size_t all = look.kept + look.open + look.by_url + look.refused;
  std::string text;
  const auto add = [&text](std::size_t number, const std::string& what) {
    if (number > 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + what;
  };
  add(look.kept, "kept by corral");
  add(look.open, "not kept yet");
  add(look.by_url, "by URL");
  add(look.refused, "to change by hand");
  text = all == 0 ? "none configured" : counted(all, "server") + " configured: " + text;
  if (look.unreadable_files > 0) text += "; " + counted(look.unreadable_files, "file") + " cannot be read";
  return text;
}

std::string leaks_of(const FirstLook& look) {
  if (look.orphans == 0 && look.other_findings == 0) return "none found";
  std::string text;
  if (look.orphans > 0) text = counted(look.orphans, "orphan");
  if (look.other_findings > 0)
    text += (text.empty() ? "" : ", ") + counted(look.other_findings, "other finding");
  return text;
}

using Step = std::pair<std::string, std::string>;

std::vector<Step> steps_for(const FirstLook& look) {
  std::vector<Step> steps;
  const bool has_servers = look.kept + look.by_url + look.refused > 0;
  if (look.open > 0) {
    steps.emplace_back("corral adopt --all",
                       "shows the change of " + counted(look.open, "server") + ", and asks");
  } else if (has_servers) {
    steps.emplace_back("corral ps", "shows what runs now");
  } else {
    steps.emplace_back("corral add NAME -- COMMAND", "configures a server");
  }
  if (look.orphans > 0) {
    steps.emplace_back("corral reap --orphans", "shows the orphans, and asks");
  } else {
    steps.emplace_back("corral doctor", "shows what runs, for whom, and what leaks");
  }
  steps.emplace_back("corral --help", "lists all commands");
  return steps;
}

}  // namespace

void show_first_page(Page& page, const FirstLook& look) {
  page.paragraph("", "corral runs MCP servers and ends all their processes when the session ends.");
  page.blank();
  page.paragraph("clients   ", clients_of(look));
  page.paragraph("servers   ", servers_of(look));
  page.paragraph("running   ", !look.trouble.empty()  ? look.trouble
                               : look.running.empty() ? "no MCP server"
                                                      : look.running);
  if (look.trouble.empty()) page.paragraph("leaks     ", leaks_of(look));
  page.paragraph("daemon    ",
                 look.daemon.empty() ? "not running; the first session starts it" : look.daemon);
  page.blank();
  const std::vector<Step> steps = steps_for(look);
  std::size_t widest = 0;
  for (const Step& step : steps) widest = std::max(widest, step.first.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    page.command(i == 0 ? "Next:  " : "       ",
                 steps[i].first + std::string(widest + 2 - steps[i].first.size(), ' ') + steps[i].second);
  }
}

}  // namespace corral::cli
