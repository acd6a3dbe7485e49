#include "cli/commands/first_look.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>

#include "base/keep_limit.h"
#include "base/text.h"
#include "base/words.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/screen/overview.h"
#include "cli/screen/server_table.h"
#include "survey/findings.h"

namespace corral::cli {
namespace {

constexpr std::chrono::milliseconds kFirstLookPatience{500};  // of a daemon that may hang

void add_processes(FirstLook& look) {
  const Result<survey::Survey> survey = survey::look_around();
  if (!survey) {
    look.trouble = survey.error().message;
    return;
  }
  look.running_clients = survey->clients.size();
  std::vector<std::size_t> all(survey->servers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!all.empty()) look.running = counted(all.size(), "MCP server") + " (" + sum_of(*survey, all) + ")";
  for (const survey::Finding& finding : survey::find(*survey, kDefaultKeep)) {
    if (finding.kind == survey::Finding::Kind::Orphan) {
      look.orphans += finding.servers.size();
    } else {
      ++look.other_findings;
    }
  }
}

void add_daemon(FirstLook& look) {
  const KnownStatus status = status_if_running("", kFirstLookPatience);
  if (!status) return;
  look.daemon = "runs: version " + shown(status->daemon.version) + ", " +
                counted(status->instances.size(), "server") + ", " +
                counted(status->sessions.size(), "session");
}

}  // namespace

void add_file(const adopt::FileLook& file, FirstLook& look) {
  if (!file.error.empty()) ++look.unreadable_files;
  const std::size_t before = look.kept + look.open + look.by_url + look.refused;
  for (const adopt::FoundServer& server : file.servers) {
    switch (server.judged.verdict) {
      case adopt::Verdict::Wrap: ++look.open; break;
      case adopt::Verdict::Kept: ++look.kept; break;
      case adopt::Verdict::Url: ++look.by_url; break;
      case adopt::Verdict::Refused:
      case adopt::Verdict::Managed: ++look.refused; break;
      case adopt::Verdict::Switch: break;
    }
  }
  const std::string name(file.file.client->name);
  const bool any = look.kept + look.open + look.by_url + look.refused > before;
  if (any && !contains(look.clients, name)) look.clients.push_back(name);
}

FirstLook look_first() {
  FirstLook look;
  for (const adopt::ClientFile& file : adopt::find_files(survey::own_places(), {})) {
    // `corral adopt --all` leaves the files of a project alone.
    if (file.scope != known::ConfigScope::Project)
      add_file(adopt::look_at(file, adopt::Through::Connect), look);
  }
  add_processes(look);
  add_daemon(look);
  return look;
}

int say_first() {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_first_page(page, look_first());
  return std::cout.flush() ? 0 : fail_to_write("");
}

}  // namespace corral::cli
