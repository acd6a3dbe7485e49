// Records each instance in the registry: before anything is executed, when its server runs, and when its tree
// is proved gone. If the daemon is killed, the next one finds in these records everything that may be left.
// Used on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "proc/launch_spec.h"
#include "proc/process_tree.h"
#include "registry/registry.h"

namespace corral::instance {

class Journal {
 public:
  /// `daemon` is the id of this daemon's record in the registry. `registry` must outlive the journal.
  Journal(registry::Registry& registry, std::string daemon)
      : registry_(registry), daemon_(std::move(daemon)) {}

  /// Call this before the process exists.
  void about_to_start(const proc::Birth& birth, const std::string& server);
  /// `server_pid` is the one that the keeper reported; 0 = the server is in a PID namespace, so its pid is
  /// not known here.
  void runs(const proc::ProcessTree& tree, pid_t server_pid);
  /// Call this only when the tree is proved gone. Otherwise the record stays open, and the next daemon looks
  /// again.
  void ended(const std::string& instance, const std::string& cause);

  /// The instances that are not known to have ended, by id.
  const std::map<std::string, registry::InstanceRecord>& open() const { return open_; }

 private:
  registry::Registry& registry_;
  std::string daemon_;
  std::map<std::string, registry::InstanceRecord> open_;
};

/// The journal of an instance, and the name of its server there.
struct JournalEntry {
  Journal* journal = nullptr;  // null = the instance is not recorded
  std::string server{};
};

/// Identifies the process of a pidfd; pid 0 if it has ended.
registry::ProcessFacts facts_of(int pidfd);

/// A record of this process, with a new random id.
registry::DaemonRecord record_of_this_process(const std::string& version);

}  // namespace corral::instance
