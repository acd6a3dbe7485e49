#include "registry/tables.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>

namespace corral::registry {
namespace {

// Bounds against a manipulated file; real files have far fewer rows.
constexpr std::size_t kMostDaemons = 256;
constexpr std::size_t kMostInstances = 4096;
constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kPiece = 200;  // rows deleted at once: about a millisecond
constexpr std::int64_t kLargestNumber = std::int64_t{1}
                                        << 53U;  // of an event: JSON numbers are exact up to here
constexpr std::int64_t kNoTime = -1;             // of an event without a duration
constexpr char kBetweenWords = '\x1f';           // lists with this character in a word are not stored

/// 0, which means no process, for values that cannot be a pid.
pid_t pid_from(std::int64_t number) {
  return number > 0 && number <= std::numeric_limits<pid_t>::max() ? static_cast<pid_t>(number) : 0;
}

uid_t uid_from(std::int64_t number) {
  constexpr std::int64_t kNobody = 65534;
  return static_cast<uid_t>(number >= 0 && number < std::numeric_limits<uid_t>::max() ? number : kNobody);
}

/// Empty for a list that could not be read back.
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (word.empty() || word.find(kBetweenWords) != std::string::npos) return {};
    if (!text.empty()) text.push_back(kBetweenWords);
    text += word;
  }
  return text;
}

std::vector<std::string> words_in(const std::string& text, char between = kBetweenWords) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, between);) words.push_back(std::move(word));
  return words;
}

/// No line has a line feed, and none is empty.
std::string one_text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

ProcessFacts facts_from(const Rows& rows, int column) {
  return {.pid = pid_from(rows.number(column)),
          .pidfs_inode = static_cast<std::uint64_t>(rows.number(column + 1)),
          .start_ticks = static_cast<std::uint64_t>(rows.number(column + 2)),
          .uid = uid_from(rows.number(column + 3)),
          .handle = rows.text(column + 4)};
}

DaemonRecord daemon_from(const Rows& rows) {
  return {.id = rows.text(0),
          .boot_id = rows.text(1),
          .pid_namespace = static_cast<std::uint64_t>(rows.number(2)),
          .process = facts_from(rows, 3),
          .version = rows.text(8),
          .started_ms = rows.number(9),
          .machine = rows.text(10)};
}

InstanceRecord instance_from(const Rows& rows) {
  return {.id = rows.text(0),
          .daemon = rows.text(1),
          .server = rows.text(2),
          .cgroup = rows.text(3),
          .rlimit_tag = static_cast<std::uint64_t>(rows.number(4)),
          .container = words_in(rows.text(18)),
          .keeper = facts_from(rows, 5),
          .process = facts_from(rows, 10),
          .started_ms = rows.number(15),
          .ended_ms = rows.number(16),
          .cause = rows.text(17)};
}

SessionRecord session_from(const Rows& rows) {
  return {.daemon = rows.text(0),
          .id = static_cast<std::uint64_t>(rows.number(1)),
          .server = rows.text(2),
          .instance = rows.text(3),
          .client_name = rows.text(4),
          .client_version = rows.text(5),
          .client_pid = pid_from(rows.number(6)),
          .transport = rows.text(7),
          .opened_ms = rows.number(8),
          .ended_ms = rows.number(9),
          .reason = rows.text(10)};
}

/// Empty for an unknown kind.
std::optional<events::Event> event_from(const Rows& rows) {
  const std::optional<events::Kind> kind = events::kind_called(rows.text(2));
  if (!kind) return std::nullopt;
  events::Event event{.number = static_cast<std::uint64_t>(rows.number(0)),
                      .time_ms = rows.number(1),
                      .kind = *kind,
                      .server = rows.text(3),
                      .instance = rows.text(4),
                      .session = static_cast<std::uint64_t>(rows.number(5)),
                      .pid = pid_from(rows.number(6)),
                      .cause = rows.text(7),
                      .text = rows.text(8),
                      .count = static_cast<std::uint64_t>(rows.number(10))};
  event.error_lines = words_in(rows.text(11), '\n');
  if (rows.number(9) >= 0) event.took = std::chrono::milliseconds(rows.number(9));
  return event;
}

std::size_t bounded(std::size_t most) { return std::min(most, kMostRows); }

}  // namespace

const Tables::Text Tables::kTexts[StatementCount] = {
    {Probe, "INSERT OR REPLACE INTO facts(name,value) VALUES('probe', hex(randomblob(8)))"},
    // Names every column, because a later corral may have added columns to a file that we have open.
    {WriteDaemon,
     "INSERT OR REPLACE INTO daemons(id,boot_id,pid_namespace,pid,pidfs_inode,start_ticks,uid,handle,"
     "version,started_ms,machine,ended_ms) VALUES(?,?,?, ?,?,?,?,?, ?,?,?,0)"},
    {EndDaemon, "UPDATE daemons SET ended_ms=?2 WHERE id=?1 AND ended_ms=0"},
    {EndSessionsOfDaemon, "UPDATE sessions SET ended_ms=?2, reason=?3 WHERE ended_ms=0 AND daemon=?1"},
    {EndInstancesOfDaemon, "UPDATE instances SET ended_ms=?2, cause=?3 WHERE ended_ms=0 AND daemon=?1"},
    // A record that has ended stays ended even if it is completed later.
    {WriteInstance,
     "INSERT INTO instances(id,daemon,server,cgroup,rlimit_tag,keeper_pid,keeper_pidfs_inode,"
     "keeper_start_ticks,keeper_uid,keeper_handle,pid,pidfs_inode,start_ticks,uid,handle,started_ms,"
     "ended_ms,cause,container) VALUES(?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?) "
     "ON CONFLICT(id) DO UPDATE SET cgroup=excluded.cgroup, rlimit_tag=excluded.rlimit_tag, "
     "keeper_pid=excluded.keeper_pid, "
     "keeper_pidfs_inode=excluded.keeper_pidfs_inode, keeper_start_ticks=excluded.keeper_start_ticks, "
     "keeper_uid=excluded.keeper_uid, keeper_handle=excluded.keeper_handle, pid=excluded.pid, "
     "pidfs_inode=excluded.pidfs_inode, start_ticks=excluded.start_ticks, uid=excluded.uid, "
     "handle=excluded.handle, started_ms=excluded.started_ms, ended_ms=excluded.ended_ms, "
     "cause=excluded.cause WHERE ended_ms=0"},
    {EndInstance, "UPDATE instances SET ended_ms=?2, cause=?3 WHERE id=?1 AND ended_ms=0"},
    {WriteSession,
     "INSERT INTO sessions(daemon,id,server,instance,client_name,client_version,client_pid,transport,"
     "opened_ms,ended_ms,reason) VALUES(?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(daemon,id) DO UPDATE SET "
     "instance=excluded.instance, client_name=excluded.client_name, "
     "client_version=excluded.client_version, client_pid=excluded.client_pid, "
     "transport=excluded.transport, ended_ms=excluded.ended_ms, reason=excluded.reason"},
    {WriteEvent,
     "INSERT INTO events(number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,"
     "daemon,stderr) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {WriteManifest,
     "INSERT OR REPLACE INTO manifests(digest,server,written,text) VALUES(?,?,"
     "(SELECT ifnull(max(written),0)+1 FROM manifests),?)"},
    {PruneManifests,
     "DELETE FROM manifests WHERE written <= (SELECT written FROM manifests ORDER BY written DESC "
     "LIMIT 1 OFFSET ?)"},
    {OpenDaemons,
     "SELECT id,boot_id,pid_namespace,pid,pidfs_inode,start_ticks,uid,handle,version,started_ms,machine "
     "FROM daemons WHERE ended_ms=0 AND id<>? ORDER BY started_ms DESC, id LIMIT ?"},
    {OpenInstances,
     "SELECT id,daemon,server,cgroup,rlimit_tag,keeper_pid,keeper_pidfs_inode,keeper_start_ticks,"
     "keeper_uid,keeper_handle,pid,pidfs_inode,start_ticks,uid,handle,started_ms,ended_ms,cause,container "
     "FROM instances WHERE daemon=? AND ended_ms=0 ORDER BY started_ms, rowid LIMIT ?"},
    {EventsAfter,
     "SELECT number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,stderr FROM events "
     "WHERE number>?1 AND (daemon=?2 OR number<=?3) ORDER BY number, row LIMIT ?4"},
    {LastEvent, "SELECT max(number) FROM events WHERE number<?"},
    {PastSessions,
     "SELECT daemon,id,server,instance,client_name,client_version,client_pid,transport,opened_ms,"
     "ended_ms,reason FROM sessions WHERE ended_ms>0 ORDER BY ended_ms DESC, row DESC LIMIT ?"},
    {Manifest, "SELECT text FROM manifests WHERE digest=?"},
    {NewestManifests,
     "SELECT server,text FROM manifests WHERE length(text)<=? ORDER BY written DESC LIMIT ?"},
    {OldestEvents,
     "SELECT number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,stderr FROM events "
     "ORDER BY row LIMIT ?",
     "SELECT number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,'' FROM events "
     "ORDER BY row LIMIT ?"},
    {NewestEvents,
     "SELECT number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,stderr FROM events "
     "ORDER BY row DESC LIMIT ?",
     "SELECT number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count,'' FROM events "
     "ORDER BY row DESC LIMIT ?"},
    {LastInstances,
     "SELECT id,daemon,server,cgroup,rlimit_tag,keeper_pid,keeper_pidfs_inode,keeper_start_ticks,"
     "keeper_uid,keeper_handle,pid,pidfs_inode,start_ticks,uid,handle,started_ms,ended_ms,cause,container "
     "FROM instances ORDER BY started_ms DESC, rowid DESC LIMIT ?"},
    // Rows are in the order of time, so only the first few need to be examined, however many there are.
    {PruneOldEvents, "DELETE FROM events WHERE row<(SELECT min(row) FROM events)+?2 AND time_ms<?1"},
    {PruneManyEvents,
     "DELETE FROM events WHERE row<(SELECT min(row) FROM events)+?2 AND "
     "row<=(SELECT max(row) FROM events)-?1"},
    {PruneOldSessions,
     "DELETE FROM sessions WHERE row IN (SELECT row FROM sessions WHERE ended_ms>0 AND ended_ms<?1 "
     "ORDER BY ended_ms LIMIT ?2)"},
    {PruneManySessions,
     "DELETE FROM sessions WHERE row IN (SELECT row FROM sessions WHERE "
     "row<=(SELECT max(row) FROM sessions)-?1 AND ended_ms>0 ORDER BY row LIMIT ?2)"},
    {PruneInstances,
     "DELETE FROM instances WHERE rowid IN (SELECT rowid FROM instances WHERE ended_ms>0 AND "
     "ended_ms<?1 ORDER BY ended_ms LIMIT ?2)"},
    {PruneManyInstances,
     "DELETE FROM instances WHERE rowid IN (SELECT rowid FROM instances WHERE "
     "rowid<=(SELECT max(rowid) FROM instances)-?1 AND ended_ms>0 ORDER BY rowid LIMIT ?2)"},
    {PruneDaemons,
     "DELETE FROM daemons WHERE rowid IN (SELECT rowid FROM daemons WHERE ended_ms>0 AND ended_ms<?1 "
     "ORDER BY rowid LIMIT ?2)"},
};

Tables::Tables(Database& database) : database_(database) {
  for (const Text& text : kTexts) {
    Statement& statement = statements_[text.name] = database.prepare(text.sql);
    if (!statement.valid() && text.sql_of_version_3 != nullptr) {
      statement = database.prepare(text.sql_of_version_3);
    }
  }
}

bool Tables::readable() const {
  return std::all_of(kReadByOthers.begin(), kReadByOthers.end(),
                     [this](Name name) { return statements_[name].valid(); });
}

bool Tables::usable() const {
  return std::all_of(statements_.begin(), statements_.end(),
                     [](const Statement& one) { return one.valid(); });
}

// ---- writing

Trouble Tables::probe() { return statements_[Probe].run().finish(); }

Trouble Tables::write(const DaemonRecord& daemon) {
  const ProcessFacts& process = daemon.process;
  return statements_[WriteDaemon]
      .run(daemon.id, daemon.boot_id, daemon.pid_namespace, process.pid, process.pidfs_inode,
           process.start_ticks, process.uid, process.handle, daemon.version, daemon.started_ms,
           daemon.machine)
      .finish();
}

Trouble Tables::end_daemon(const std::string& id, std::int64_t now_ms, const std::string& cause) {
  Transaction transaction(database_);
  Trouble trouble = transaction.trouble();
  if (trouble == Trouble::None) trouble = statements_[EndSessionsOfDaemon].run(id, now_ms, cause).finish();
  if (trouble == Trouble::None) trouble = statements_[EndInstancesOfDaemon].run(id, now_ms, cause).finish();
  if (trouble == Trouble::None) trouble = statements_[EndDaemon].run(id, now_ms).finish();
  return trouble == Trouble::None ? transaction.commit() : trouble;
}

Trouble Tables::write(const InstanceRecord& instance) {
  const ProcessFacts& keeper = instance.keeper;
  const ProcessFacts& process = instance.process;
  return statements_[WriteInstance]
      .run(instance.id, instance.daemon, instance.server, instance.cgroup, instance.rlimit_tag, keeper.pid,
           keeper.pidfs_inode, keeper.start_ticks, keeper.uid, keeper.handle, process.pid,
           process.pidfs_inode, process.start_ticks, process.uid, process.handle, instance.started_ms,
           instance.ended_ms, instance.cause, joined(instance.container))
      .finish();
}

Trouble Tables::end_instance(const std::string& id, std::int64_t ended_ms, const std::string& cause) {
  return statements_[EndInstance].run(id, ended_ms, cause).finish();
}

Trouble Tables::write(const SessionRecord& session) {
  return statements_[WriteSession]
      .run(session.daemon, session.id, session.server, session.instance, session.client_name,
           session.client_version, session.client_pid, session.transport, session.opened_ms, session.ended_ms,
           session.reason)
      .finish();
}

Trouble Tables::write(const events::Event& event, const std::string& daemon) {
  return statements_[WriteEvent]
      .run(event.number, event.time_ms, std::string_view(events::name_of(event.kind)), event.server,
           event.instance, event.session, event.pid, event.cause, event.text,
           event.took ? event.took->count() : kNoTime, event.count, daemon, one_text_of(event.error_lines))
      .finish();
}

Trouble Tables::write_manifest(const std::string& digest, const std::string& server, const std::string& text,
                               std::size_t most) {
  const Trouble trouble = statements_[WriteManifest].run(digest, server, text).finish();
  return trouble == Trouble::None ? statements_[PruneManifests].run(most).finish() : trouble;
}

// ---- reading

std::vector<Unfinished> Tables::unfinished(const std::string& except, Trouble& trouble) {
  std::vector<Unfinished> found;
  {
    Rows daemons = statements_[OpenDaemons].run(except, kMostDaemons);
    while (daemons.next()) found.push_back({daemon_from(daemons), {}});
    trouble = daemons.trouble();
  }
  for (Unfinished& one : found) {
    Rows instances = statements_[OpenInstances].run(one.daemon.id, kMostInstances);
    while (instances.next()) one.instances.push_back(instance_from(instances));
    if (instances.trouble() != Trouble::None) trouble = instances.trouble();
  }
  return found;
}

std::vector<events::Event> Tables::events_after(std::uint64_t number, const std::string& daemon,
                                                std::uint64_t before, std::size_t most, Trouble& trouble) {
  std::vector<events::Event> found;
  const auto after = std::min(number, static_cast<std::uint64_t>(kLargestNumber));
  Rows rows = statements_[EventsAfter].run(after, daemon, before, bounded(most));
  while (rows.next()) {
    if (std::optional<events::Event> event = event_from(rows)) found.push_back(std::move(*event));
  }
  trouble = rows.trouble();
  return found;
}

std::uint64_t Tables::last_event(Trouble& trouble) {
  Rows rows = statements_[LastEvent].run(kLargestNumber);
  const std::int64_t last = rows.next() ? rows.number(0) : 0;
  trouble = rows.trouble();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0));
}

std::vector<SessionRecord> Tables::past_sessions(std::size_t most, Trouble& trouble) {
  std::vector<SessionRecord> found;
  Rows rows = statements_[PastSessions].run(bounded(most));
  while (rows.next()) found.push_back(session_from(rows));
  trouble = rows.trouble();
  return found;
}

std::optional<std::string> Tables::manifest(const std::string& digest, Trouble& trouble) {
  std::optional<std::string> found;
  Rows rows = statements_[Manifest].run(digest);
  if (rows.next()) found = rows.text(0);
  trouble = rows.trouble();
  return found;
}

Trouble Tables::each_event(Order order, const std::function<bool(const events::Event&)>& take) {
  constexpr std::size_t kAll = 1'000'000;  // the daemon keeps fewer
  Rows rows = statements_[order == Order::OldestFirst ? OldestEvents : NewestEvents].run(kAll);
  while (rows.next()) {
    const std::optional<events::Event> event = event_from(rows);
    if (event && !take(*event)) return Trouble::None;
  }
  return rows.trouble();
}

Trouble Tables::each_manifest(const std::function<void(const std::string& server, std::string text)>& take) {
  Rows rows = statements_[NewestManifests].run(kLargestManifest, kMostManifests);
  while (rows.next()) take(rows.text(0), rows.text(1));
  return rows.trouble();
}

std::vector<InstanceRecord> Tables::last_instances(std::size_t most, Trouble& trouble) {
  std::vector<InstanceRecord> found;
  Rows rows = statements_[LastInstances].run(bounded(most));
  while (rows.next()) found.push_back(instance_from(rows));
  trouble = rows.trouble();
  return found;
}

// ---- deleting

int Tables::prune_some(const Bounds& bounds, Trouble& trouble) {
  int removed = 0;
  const auto run = [&](Name name, auto bound) {
    if (trouble != Trouble::None) return;
    trouble = statements_[name].run(bound, kPiece).finish();
    if (trouble == Trouble::None) removed += database_.changed();
  };
  trouble = Trouble::None;
  Transaction transaction(database_);
  trouble = transaction.trouble();
  run(PruneOldEvents, bounds.oldest_ms);
  run(PruneManyEvents, bounds.events);
  run(PruneOldSessions, bounds.oldest_ms);
  run(PruneManySessions, bounds.sessions);
  run(PruneInstances, bounds.oldest_ms);
  run(PruneManyInstances, bounds.sessions);
  run(PruneDaemons, bounds.oldest_ms);
  if (trouble == Trouble::None) trouble = transaction.commit();
  return trouble == Trouble::None ? removed : 0;
}

}  // namespace corral::registry
