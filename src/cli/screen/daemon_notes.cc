#include "cli/screen/daemon_notes.h"

#include <compare>
#include <set>

#include "base/version_order.h"
#include "version.h"

namespace corral::cli {
namespace {

constexpr const char* kChange =
    "`corral serve --replace --background` changes to it; open sessions end, and their clients connect again";
constexpr std::size_t kMostServers = 5;

std::string shown_build(const std::string& version, const std::string& date) {
  return shown(version) + " (build " + shown(date) + ")";
}

}  // namespace

Build own_build() { return {kVersion, kBuildDate}; }

std::string newer_program(const observe::DaemonView& daemon, const Build& own) {
  const auto order = compare_versions(daemon.version, own.version);
  const bool same = daemon.version == own.version;
  const bool older =
      (order && std::is_lt(*order)) || (same && !daemon.build.empty() && daemon.build < own.date);
  if (older) {
    return "corral " + shown_build(own.version, own.date) + " is installed, and the daemon runs " +
           shown_build(daemon.version, daemon.build) + ": " + kChange + ".";
  }
  if (!daemon.program_replaced) return "";
  return "another program was installed at " + shorten_home(daemon.program) +
         " since the daemon was started from there: " + kChange + ".";
}

std::vector<std::string> unattended_servers(const Overview& overview) {
  std::vector<std::string> sentences;
  std::set<std::string> servers;
  for (const InstanceRow& one : overview.instances) {
    if (one.unattended.empty() || !servers.insert(one.server).second) continue;
    sentences.push_back(shown(one.server) + ": " + shorten_homes(one.unattended));
  }
  return sentences;
}

void show_notes(Page& page, const Overview& overview) {
  const std::vector<std::string> servers = unattended_servers(overview);
  for (std::size_t i = 0; i < servers.size() && i < kMostServers; ++i) {
    page.paragraph("note: ", servers[i] + ".");
  }
  if (servers.size() > kMostServers) {
    page.paragraph("note: ", "nobody is attached to the clients of " +
                                 std::to_string(servers.size() - kMostServers) + " more servers either.");
  }
  const std::string newer = newer_program(overview.daemon, own_build());
  if (!newer.empty()) page.paragraph("note: ", newer);
}

}  // namespace corral::cli
