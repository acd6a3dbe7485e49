#include "registry/schema.h"

#include <string>

namespace corral::registry {
namespace {

constexpr std::int64_t kApplication = 0x63726c31;  // "crl1": identifies the file's owner

// Times are Unix milliseconds; 0 means "not yet". Unsigned numbers are stored bit by bit.
//
// daemons.machine: a home directory on a network file system is shared by daemons of several machines, so a
// different boot id does not prove that a daemon has ended. instances.container: a container is not one of
// our processes, so its record must say which engine to ask. events.daemon: daemons that serve one command
// share the directory of the user's daemon and number their events separately, so a number alone is
// ambiguous. manifests_by_age avoids a pass over all manifests to find the oldest.
constexpr const char* kTables = R"(
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE daemons(
  id TEXT PRIMARY KEY, boot_id TEXT NOT NULL, pid_namespace INTEGER NOT NULL,
  pid INTEGER NOT NULL, pidfs_inode INTEGER NOT NULL, start_ticks INTEGER NOT NULL, uid INTEGER NOT NULL,
  handle TEXT NOT NULL, version TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,
  machine TEXT NOT NULL DEFAULT '');

CREATE TABLE instances(
  id TEXT PRIMARY KEY, daemon TEXT NOT NULL, server TEXT NOT NULL, cgroup TEXT NOT NULL,
  rlimit_tag INTEGER NOT NULL,
  keeper_pid INTEGER NOT NULL, keeper_pidfs_inode INTEGER NOT NULL, keeper_start_ticks INTEGER NOT NULL,
  keeper_uid INTEGER NOT NULL, keeper_handle TEXT NOT NULL,
  pid INTEGER NOT NULL, pidfs_inode INTEGER NOT NULL, start_ticks INTEGER NOT NULL, uid INTEGER NOT NULL,
  handle TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, cause TEXT NOT NULL,
  container TEXT NOT NULL DEFAULT '');
CREATE INDEX instances_by_end ON instances(ended_ms, daemon);

CREATE TABLE sessions(
  row INTEGER PRIMARY KEY, daemon TEXT NOT NULL, id INTEGER NOT NULL, server TEXT NOT NULL,
  instance TEXT NOT NULL, client_name TEXT NOT NULL, client_version TEXT NOT NULL,
  client_pid INTEGER NOT NULL, transport TEXT NOT NULL,
  opened_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, reason TEXT NOT NULL,
  UNIQUE(daemon, id));
CREATE INDEX sessions_by_end ON sessions(ended_ms);

CREATE TABLE events(
  row INTEGER PRIMARY KEY, number INTEGER NOT NULL, time_ms INTEGER NOT NULL, kind TEXT NOT NULL,
  server TEXT NOT NULL, instance TEXT NOT NULL, session INTEGER NOT NULL, pid INTEGER NOT NULL,
  cause TEXT NOT NULL, text TEXT NOT NULL, took_ms INTEGER NOT NULL, count INTEGER NOT NULL,
  daemon TEXT NOT NULL DEFAULT '');
CREATE INDEX events_by_number ON events(number);

CREATE TABLE manifests(
  digest TEXT PRIMARY KEY, server TEXT NOT NULL, written INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX manifests_by_age ON manifests(written);
)";

// What a server wrote last to stderr before a failure, line by line.
constexpr const char* kErrorLines = "ALTER TABLE events ADD COLUMN stderr TEXT NOT NULL DEFAULT '';";

constexpr SchemaStep kSteps[] = {{3, kTables}, {4, kErrorLines}};

}  // namespace

std::span<const SchemaStep> schema_steps() { return kSteps; }

std::int64_t schema_version() { return schema_steps().back().version; }

SchemaLook look_at_schema(Database& database) {
  SchemaLook look;
  look.version = database.number("PRAGMA user_version", look.trouble);
  if (look.trouble != Trouble::None) return look;
  const std::int64_t application = database.number("PRAGMA application_id", look.trouble);
  if (look.trouble != Trouble::None) return look;
  const std::int64_t things = database.number("SELECT count(*) FROM sqlite_schema", look.trouble);
  if (look.trouble != Trouble::None) return look;
  const bool empty = things == 0 && look.version == 0;
  if (!empty && application != kApplication) look.state = SchemaState::Foreign;
  if (look.state == SchemaState::Ours && look.version < 0) look.state = SchemaState::Foreign;
  if (look.state == SchemaState::Ours && look.version > schema_version()) look.state = SchemaState::Newer;
  const bool before_first = look.version > 0 && look.version < schema_steps().front().version;
  if (look.state == SchemaState::Ours && before_first) look.state = SchemaState::Older;
  return look;
}

Trouble migrate(Database& database) {
  Transaction transaction(database);
  Trouble trouble = transaction.trouble();
  if (trouble != Trouble::None) return trouble;
  // Read again, because another daemon may have migrated it first.
  const std::int64_t found = database.number("PRAGMA user_version", trouble);
  for (const SchemaStep& step : schema_steps()) {
    if (trouble != Trouble::None) return trouble;
    if (step.version <= found) continue;
    trouble = database.execute(step.sql);
    const std::string mark = "PRAGMA application_id=" + std::to_string(kApplication) +
                             "; PRAGMA user_version=" + std::to_string(step.version);
    if (trouble == Trouble::None) trouble = database.execute(mark.c_str());
  }
  return trouble == Trouble::None ? transaction.commit() : trouble;
}

}  // namespace corral::registry
