// Converts records to rows and back; holds every statement of the registry, prepared once. Values from the
// file are bounded and checked here, so that callers never see an impossible number.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "registry/sqlite.h"

namespace corral::registry {

class Tables {
 public:
  /// The database must outlive it. `usable` is false if the tables are not the registry's.
  explicit Tables(Database& database);
  bool usable() const;
  /// Whether programs that are not the daemon can read them; also true for a file of version 3.
  bool readable() const;

  /// Whether the database can be written.
  Trouble probe();
  Trouble write(const DaemonRecord& daemon);
  /// Also ends its open sessions and instances.
  Trouble end_daemon(const std::string& id, std::int64_t now_ms, const std::string& cause);
  Trouble write(const InstanceRecord& instance);
  Trouble end_instance(const std::string& id, std::int64_t ended_ms, const std::string& cause);
  Trouble write(const SessionRecord& session);
  Trouble write(const events::Event& event, const std::string& daemon);
  /// Keeps at most `most` manifests and deletes those written longest ago.
  Trouble write_manifest(const std::string& digest, const std::string& server, const std::string& text,
                         std::size_t most);

  std::vector<Unfinished> unfinished(const std::string& except, Trouble& trouble);
  /// Events of this daemon, and of all others up to `before`.
  std::vector<events::Event> events_after(std::uint64_t number, const std::string& daemon,
                                          std::uint64_t before, std::size_t most, Trouble& trouble);
  std::uint64_t last_event(Trouble& trouble);
  std::vector<SessionRecord> past_sessions(std::size_t most, Trouble& trouble);
  std::optional<std::string> manifest(const std::string& digest, Trouble& trouble);

  // ---- for programs that look at what daemons have kept

  enum class Order : std::uint8_t { OldestFirst, NewestFirst };
  /// The events of all daemons, until `take` returns false.
  Trouble each_event(Order order, const std::function<bool(const events::Event&)>& take);
  /// The manifests of all servers, the newest first.
  Trouble each_manifest(const std::function<void(const std::string& server, std::string text)>& take);
  /// Of all daemons, the one that was started last first.
  std::vector<InstanceRecord> last_instances(std::size_t most, Trouble& trouble);

  struct Bounds {
    std::int64_t oldest_ms = 0;
    std::size_t events = 0;
    std::size_t sessions = 0;
  };
  /// Deletes a few rows beyond the bounds; returns how many.
  int prune_some(const Bounds& bounds, Trouble& trouble);

 private:
  enum Name : std::size_t {
    Probe,
    WriteDaemon,
    EndDaemon,
    EndSessionsOfDaemon,
    EndInstancesOfDaemon,
    WriteInstance,
    EndInstance,
    WriteSession,
    WriteEvent,
    WriteManifest,
    PruneManifests,
    OpenDaemons,
    OpenInstances,
    EventsAfter,
    LastEvent,
    PastSessions,
    Manifest,
    NewestManifests,
    OldestEvents,
    NewestEvents,
    LastInstances,
    PruneOldEvents,
    PruneManyEvents,
    PruneOldSessions,
    PruneManySessions,
    PruneInstances,
    PruneManyInstances,
    PruneDaemons,
    StatementCount,
  };
  struct Text {
    Name name;
    const char* sql;
    /// The same for a file that no daemon has brought up to date yet; null = no other.
    const char* sql_of_version_3 = nullptr;
  };
  static constexpr std::array kReadByOthers = {NewestManifests, OldestEvents, NewestEvents, LastInstances};
  static const Text kTexts[StatementCount];

  Database& database_;
  std::array<Statement, StatementCount> statements_;
};

}  // namespace corral::registry
