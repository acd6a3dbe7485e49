// What outlives the daemon: which processes it has started, for whom, what was learned of servers, what
// happened. One seam; SQLite is behind it on one machine (sqlite_registry.h). Belongs to the loop thread. No
// call throws or waits for a disk; what cannot be kept makes the registry degraded, and the daemon serves on.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/event.h"

namespace corral::registry {

/// Who a process is beyond its number; the same facts as proc::Identity, as plain values.
struct ProcessFacts {
  pid_t pid = 0;                  // 0 = not known
  std::uint64_t pidfs_inode = 0;  // 0 = the kernel has no pidfs
  std::uint64_t start_ticks = 0;
  uid_t uid = 0;
  std::string handle{};  // bytes; empty = the kernel gives none

  bool operator==(const ProcessFacts&) const = default;
};

/// One daemon, from its start to its end. Records of a daemon that lives are nobody else's business.
struct DaemonRecord {
  std::string id;  // random
  std::string boot_id;
  std::uint64_t pid_namespace = 0;  // inode; numbers mean nothing in another one
  ProcessFacts process;
  std::string version;
  std::int64_t started_ms = 0;
  std::string machine{};  // its id; empty = it has none

  bool operator==(const DaemonRecord&) const = default;
};

/// The journal of one instance: written before anything is executed, completed as it becomes known.
struct InstanceRecord {
  std::string id;      // the cookie that all of its processes carry
  std::string daemon;  // DaemonRecord::id
  std::string server;
  std::string cgroup{};                  // empty = none
  std::uint64_t rlimit_tag = 0;          // 0 = not known, or none
  std::vector<std::string> container{};  // what its removal needs to know; empty = there is none
  ProcessFacts keeper{};
  ProcessFacts process{};  // the server
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  // 0 = it is not known to have ended
  std::string cause{};        // why it ended

  bool operator==(const InstanceRecord&) const = default;
};

struct SessionRecord {
  std::string daemon;
  std::uint64_t id = 0;  // of that daemon
  std::string server;
  std::string instance{};  // the last one that it had
  std::string client_name{};
  std::string client_version{};
  pid_t client_pid = 0;
  std::string transport{};
  std::int64_t opened_ms = 0;
  std::int64_t ended_ms = 0;  // 0 = open
  std::string reason{};       // why it ended

  bool operator==(const SessionRecord&) const = default;
};

// How much is kept of what is known of servers: as many as a user may have servers, projects and environments
// of them in use; beyond that the ones that were not written for longest go.
inline constexpr std::size_t kMostManifests = 256;
inline constexpr std::size_t kLargestManifest = std::size_t{8} << 20;

/// Records of a daemon that may have left something behind.
struct Unfinished {
  DaemonRecord daemon;
  std::vector<InstanceRecord> instances;  // without an end, oldest first
};

class Registry {
 public:
  virtual ~Registry() = default;

  /// Why it is degraded, as a sentence that says what to do; empty = it is not.
  virtual const std::string& degraded() const = 0;
  /// Called whenever that changes.
  virtual void when_degraded(std::function<void()> task) = 0;

  virtual void begin(const DaemonRecord& daemon) = 0;
  virtual void end(const std::string& daemon) = 0;  // in order: nothing of it is left
  /// Of every daemon but this one.
  virtual std::vector<Unfinished> unfinished(const std::string& except) = 0;
  /// Nothing of it can be left, or what was left is gone.
  virtual void forget(const std::string& daemon) = 0;

  /// Written when this returns: a process may be executed after it. Also to complete one.
  virtual void journal(const InstanceRecord& instance) = 0;
  virtual void instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) = 0;

  // These are written together, a moment later; `flush` writes them now.
  virtual void keep(const SessionRecord& session) = 0;
  virtual void keep(const events::Event& event) = 0;
  virtual void flush() = 0;

  /// Those after `number`, oldest first.
  virtual std::vector<events::Event> events_after(std::uint64_t number, std::size_t most) = 0;
  virtual std::uint64_t last_event() = 0;
  /// Ended sessions, newest first.
  virtual std::vector<SessionRecord> past_sessions(std::size_t most) = 0;

  /// What is known of a server, as text (server/manifest_text.cc); by a digest of its launch key.
  virtual std::optional<std::string> manifest(const std::string& digest) = 0;
  virtual void keep_manifest(const std::string& digest, const std::string& server,
                             const std::string& text) = 0;
};

}  // namespace corral::registry
