#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "observe/snapshot.h"

namespace corral::observe {
namespace {

/// How many processes one server may have before it is reported. `keep` may be 0 (nothing is kept idle),
/// which does not make every server in use a problem.
std::size_t most_copies(const DaemonView& daemon) { return std::max<std::size_t>(daemon.keep, 1); }

/// Servers that are not started for now, and servers whose instance dies in every new session.
void add_crash_loops(const Snapshot& snapshot, Health& health) {
  std::set<std::string> told;
  for (const ServerView& server : snapshot.servers) {
    if (server.broken.empty()) continue;
    told.insert(server.name);
    health.reasons.push_back("server " + server.name + " is in a crash loop: " + server.broken +
                             "; `corral logs " + server.name + "` shows why, `corral start " + server.name +
                             "` tries again");
  }
  for (const CrashLoop& loop : snapshot.crash_loops) {
    if (told.contains(loop.server)) continue;
    const std::string logs = "`corral logs " + loop.server + "`";
    const bool named = loop.text.find(logs) != std::string::npos;
    health.reasons.push_back("server " + loop.server + " is in a crash loop: " + loop.text +
                             (named ? "" : "; " + logs + " shows why"));
  }
}

}  // namespace

Health health_of(const Snapshot& snapshot) {
  Health health;
  std::map<std::string, std::size_t> copies;
  for (const InstanceView& instance : snapshot.instances) {
    if (instance.pid > 0) ++copies[instance.server];
  }
  const std::size_t most = most_copies(snapshot.daemon);
  for (const auto& [server, number] : copies) {
    if (number <= most) continue;
    std::string reason = "server " + server + " has " + std::to_string(number) + " processes, more than ";
    reason += std::to_string(most) + ": `corral ps` shows which clients use them, `corral why ";
    reason += server + "` why they are not one process and what to write to share it";
    health.reasons.push_back(std::move(reason));
  }
  add_crash_loops(snapshot, health);
  for (const std::string& sentence : snapshot.unkillable) {
    health.reasons.push_back("a process could not be ended: " + sentence);
  }
  if (!snapshot.daemon.degraded.empty()) {
    health.reasons.push_back("the registry is degraded: " + snapshot.daemon.degraded);
  }
  if (!snapshot.daemon.lost.empty()) health.reasons.push_back(snapshot.daemon.lost);
  health.healthy = health.reasons.empty();
  return health;
}

std::string_view refusing_state(const ServerView& server) {
  if (server.stopped) return "stopped";
  return server.broken.empty() ? "" : "broken";
}

}  // namespace corral::observe
