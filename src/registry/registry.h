// What outlives the daemon: which processes it has started and for whom, what is known about servers, and the
// events. This is the interface; SQLite implements it on one machine (sqlite_registry.h). Must be used on the
// loop's thread. No call throws or waits for a disk. If something cannot be stored, the registry becomes
// degraded and the daemon continues to serve.
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

/// Identifies a process beyond its pid; the same facts as proc::Identity, as plain values.
struct ProcessFacts {
  pid_t pid = 0;                  // 0 = unknown
  std::uint64_t pidfs_inode = 0;  // 0 = the kernel has no pidfs
  std::uint64_t start_ticks = 0;
  uid_t uid = 0;
  std::string handle{};  // bytes; empty = the kernel provides none

  bool operator==(const ProcessFacts&) const = default;
};

/// One daemon, from its start to its end. Only a daemon itself changes its records while it lives.
struct DaemonRecord {
  std::string id;  // random
  std::string boot_id;
  std::uint64_t pid_namespace = 0;  // inode; pids have no meaning in another namespace
  ProcessFacts process;
  std::string version;
  std::int64_t started_ms = 0;
  std::string machine{};  // machine id; empty = it has none

  bool operator==(const DaemonRecord&) const = default;
};

/// The journal of one instance: written before anything is executed, completed as facts become known.
struct InstanceRecord {
  std::string id;      // the cookie that all its processes carry
  std::string daemon;  // DaemonRecord::id
  std::string server;
  std::string cgroup{};                  // empty = none
  std::uint64_t rlimit_tag = 0;          // 0 = unknown or none
  std::vector<std::string> container{};  // what the removal of its container needs; empty = no container
  ProcessFacts keeper{};
  ProcessFacts process{};  // the server
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  // 0 = not known to have ended
  std::string cause{};        // why it ended

  bool operator==(const InstanceRecord&) const = default;
};

struct SessionRecord {
  std::string daemon;
  std::uint64_t id = 0;  // unique within that daemon
  std::string server;
  std::string instance{};  // the last instance that it used
  std::string client_name{};
  std::string client_version{};
  pid_t client_pid = 0;
  std::string transport{};
  std::int64_t opened_ms = 0;
  std::int64_t ended_ms = 0;  // 0 = open
  std::string reason{};       // why it ended

  bool operator==(const SessionRecord&) const = default;
};

// Limits for what is stored about servers: enough for the servers, projects and environments of one user.
// Beyond them, the manifests that were written longest ago are deleted.
inline constexpr std::size_t kMostManifests = 256;
inline constexpr std::size_t kLargestManifest = std::size_t{8} << 20;

/// The records of a daemon that may have left processes behind.
struct Unfinished {
  DaemonRecord daemon;
  std::vector<InstanceRecord> instances;  // not ended, oldest first
};

class Registry {
 public:
  virtual ~Registry() = default;

  /// Why the registry is degraded, as a sentence that says what to do; empty = it is not degraded.
  virtual const std::string& degraded() const = 0;
  /// `task` is called on the loop, in its own turn, whenever that changes. It may call the registry.
  virtual void when_degraded(std::function<void()> task) = 0;

  /// Call once, before anything is recorded for this daemon.
  virtual void begin(const DaemonRecord& daemon) = 0;
  virtual void end(const std::string& daemon) = 0;  // an orderly end: nothing of it is left
  /// The open records of every daemon except this one.
  virtual std::vector<Unfinished> unfinished(const std::string& except) = 0;
  /// Nothing of that daemon is left: marks its records as ended.
  virtual void forget(const std::string& daemon) = 0;

  /// Stored when this returns, so a process may be executed after it. Also updates a record with facts that
  /// became known later.
  virtual void journal(const InstanceRecord& instance) = 0;
  virtual void instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) = 0;

  // These are written together, a moment later, or at once with an event that is a failure; `flush` writes
  // them now.
  virtual void keep(const SessionRecord& session) = 0;
  virtual void keep(const events::Event& event) = 0;
  virtual void flush() = 0;

  /// The events after `number`, oldest first.
  virtual std::vector<events::Event> events_after(std::uint64_t number, std::size_t most) = 0;
  virtual std::uint64_t last_event() = 0;
  /// Ended sessions, newest first.
  virtual std::vector<SessionRecord> past_sessions(std::size_t most) = 0;

  /// What is known about a server, as text (knowledge/manifest_store.cc); the key is a digest of its launch
  /// key.
  virtual std::optional<std::string> manifest(const std::string& digest) = 0;
  virtual void keep_manifest(const std::string& digest, const std::string& server,
                             const std::string& text) = 0;
};

}  // namespace corral::registry
