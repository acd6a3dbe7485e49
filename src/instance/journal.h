// What the registry is told of each instance, and when: before anything is executed, when it runs, and when
// its tree is proved gone. Whoever comes after a daemon that was killed finds in it whatever may be left.
// Belongs to the loop thread.
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
  /// `daemon` is the id of the record that the registry has of this daemon.
  Journal(registry::Registry& registry, std::string daemon)
      : registry_(registry), daemon_(std::move(daemon)) {}

  void about_to_start(const proc::Birth& birth, const std::string& server);
  /// `server_pid` as the keeper told it; 0 = it is in a PID namespace, where only its init knows it.
  void runs(const proc::ProcessTree& tree, pid_t server_pid);
  /// Only when the tree is proved gone. Otherwise it stays open, and the next daemon looks again.
  void ended(const std::string& instance, const std::string& cause);

  /// Those that are not known to have ended, by their ids.
  const std::map<std::string, registry::InstanceRecord>& open() const { return open_; }

 private:
  registry::Registry& registry_;
  std::string daemon_;
  std::map<std::string, registry::InstanceRecord> open_;
};

/// Where an instance is written down, and under which name.
struct JournalEntry {
  Journal* journal = nullptr;  // null = nowhere
  std::string server{};
};

/// Who the process behind a pidfd is; pid 0 if it is gone.
registry::ProcessFacts facts_of(int pidfd);

/// The record that stands for this process, with a new random id.
registry::DaemonRecord record_of_this_process(const std::string& version);

}  // namespace corral::instance
