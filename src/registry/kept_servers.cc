#include "registry/kept_servers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "events/event.h"
#include "registry/registry.h"
#include "registry/schema.h"
#include "registry/sqlite.h"

namespace corral::registry {
namespace {

constexpr int kBriefWait = 500;  // milliseconds
constexpr std::size_t kMostPerServer = 4;
constexpr std::size_t kLongestFailure = 4096;

using KeptServers = std::map<std::string, KeptServer>;

Error unreadable(const std::string& file, const std::string& why) {
  return Error{"the registry " + file + " cannot be read: " + why};
}

Error unreadable(const std::string& file, Trouble trouble) {
  switch (trouble) {
    case Trouble::Busy: return unreadable(file, "a daemon is writing to it. Try again");
    case Trouble::Corrupt:
    case Trouble::Refused: return unreadable(file, "it is damaged. The next daemon replaces it");
    default: return unreadable(file, "it cannot be opened. Check its permissions and the disk");
  }
}

/// SQLite opens no file through a symbolic link, so the links in the path of the directory are resolved.
std::string real_file(const std::string& file) {
  const std::filesystem::path path(file);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(path.parent_path(), error);
  return error ? file : (folder / path.filename()).string();
}

Trouble read_manifests(Database& database, KeptServers& servers) {
  Statement statement = database.prepare(
      "SELECT server,text FROM manifests WHERE length(text)<=? ORDER BY written DESC LIMIT ?");
  if (!statement.valid()) return Trouble::Refused;
  Rows rows = statement.run(kLargestManifest, kMostManifests);
  while (rows.next()) {
    std::vector<std::string>& kept = servers[rows.text(0)].manifests;
    if (kept.size() < kMostPerServer) kept.push_back(rows.text(1));
  }
  return rows.trouble();
}

/// The newest event of a server decides: one that became ready has no failure any more.
Trouble read_failures(Database& database, KeptServers& servers) {
  Statement statement = database.prepare(
      "SELECT server,kind,text,time_ms FROM events WHERE server<>'' AND kind IN "
      "('ready','failed','crash','broken') ORDER BY row DESC LIMIT 5000");
  if (!statement.valid()) return Trouble::Refused;
  std::set<std::string> seen;
  Rows rows = statement.run();
  while (rows.next()) {
    const std::string server = rows.text(0);
    if (!seen.insert(server).second || rows.text(1) == events::name_of(events::Kind::Ready)) continue;
    KeptServer& kept = servers[server];
    kept.failure = rows.text(2).substr(0, kLongestFailure);
    kept.failure_ms = rows.number(3);
  }
  return rows.trouble();
}

}  // namespace

Result<std::map<std::string, KeptServer>> read_kept_servers(const std::string& file) {
  const std::string path = real_file(file);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    Error missing = unreadable(file, "it does not exist");
    missing.kind = Error::Kind::NotFound;
    return missing;
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return unreadable(file, "it is not a file of yours. Remove it");
  }
  Trouble trouble = Trouble::None;
  Database database = Database::open_to_read(path, trouble);
  if (trouble != Trouble::None) return unreadable(file, trouble);
  database.wait_for_locks(kBriefWait);
  const SchemaLook look = look_at_schema(database);
  if (look.trouble != Trouble::None) return unreadable(file, look.trouble);
  if (look.state != SchemaState::Ours) return unreadable(file, "another version of corral wrote it");
  KeptServers servers;
  if (look.version == 0) return servers;  // a daemon has just created it
  trouble = read_manifests(database, servers);
  if (trouble == Trouble::None) trouble = read_failures(database, servers);
  if (trouble != Trouble::None) return unreadable(file, trouble);
  return servers;
}

}  // namespace corral::registry
