#include "registry/kept_servers.h"

#include <set>
#include <utility>

#include "events/event.h"
#include "registry/kept_records.h"

namespace corral::registry {
namespace {

constexpr std::size_t kMostPerServer = 4;
constexpr std::size_t kMostEvents = 5000;  // the newest of those that say how a server is
constexpr std::size_t kLongestFailure = 4096;

using KeptServers = std::map<std::string, KeptServer>;

Result<void> read_manifests(KeptRecords& records, KeptServers& servers) {
  return records.each_manifest([&servers](const std::string& server, std::string text) {
    std::vector<std::string>& kept = servers[server].manifests;
    if (kept.size() < kMostPerServer) kept.push_back(std::move(text));
  });
}

bool tells_how_it_is(events::Kind kind) { return kind == events::Kind::Ready || events::is_failure(kind); }

/// The newest event of a server decides: one that became ready has no failure any more.
Result<void> read_failures(KeptRecords& records, KeptServers& servers) {
  std::set<std::string> seen;
  std::size_t events = 0;
  return records.newest_first([&](const events::Event& event) {
    if (event.server.empty() || !tells_how_it_is(event.kind)) return true;
    if (seen.insert(event.server).second && event.kind != events::Kind::Ready) {
      KeptServer& kept = servers[event.server];
      kept.failure = events::sentence_of(event).substr(0, kLongestFailure);
      kept.failure_kind = events::name_of(event.kind);
      kept.error_lines = event.error_lines;
      kept.failure_ms = event.time_ms;
    }
    return ++events < kMostEvents;
  });
}

}  // namespace

Result<std::map<std::string, KeptServer>> read_kept_servers(const std::string& file) {
  Result<KeptRecords> records = KeptRecords::open(file);
  if (!records) return records.error();
  KeptServers servers;
  Result<void> read = read_manifests(*records, servers);
  if (read) read = read_failures(*records, servers);
  if (!read) return read.error();
  return servers;
}

}  // namespace corral::registry
