#include <algorithm>
#include <map>

#include "admin/snapshot.h"

namespace corral::admin {
namespace {

/// How many processes one server may have before that is worth a word. `keep` may be 0 (nothing is kept
/// idle), which does not make every server that is in use a problem.
std::size_t most_copies(const DaemonView& daemon) { return std::max<std::size_t>(daemon.keep, 1); }

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
    health.reasons.push_back(
        "server " + server + " has " + std::to_string(number) + " processes, more than " +
        std::to_string(most) +
        ": `corral ps` shows whose they are; sessions that could use one process together "
        "need \"share\": \"shared\" in its entry");
  }
  for (const ServerView& server : snapshot.servers) {
    if (server.broken.empty()) continue;
    health.reasons.push_back("server " + server.name + " is in a crash loop: " + server.broken +
                             "; `corral logs " + server.name + "` shows why, `corral start " + server.name +
                             "` tries again");
  }
  for (const std::string& sentence : snapshot.unkillable) {
    health.reasons.push_back("a process could not be ended: " + sentence);
  }
  if (!snapshot.daemon.degraded.empty()) {
    health.reasons.push_back("the registry is degraded: " + snapshot.daemon.degraded);
  }
  health.healthy = health.reasons.empty();
  return health;
}

}  // namespace corral::admin
