// What `corral list` shows: every configured server, and those that clients brought with them, one line each.
// Put together from the configuration, the status of the daemon if one is running, and the registry. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "config/configuration.h"
#include "observe/snapshot.h"
#include "registry/kept_servers.h"

namespace corral::cli {

struct ListedServer {
  std::string name;  // all texts are safe for a terminal
  /// "ready", "idle" and the other states of an instance; "parked", "stopped", "broken", "disabled",
  /// "failed", "refused" (its last client was), "not started".
  std::string state;
  std::optional<std::uint64_t> tools;  // that clients see; not set = never seen
  std::string share;                   // "shared", "private", "by project", "mixed"; "auto" = not decided yet
  std::string error;                   // its last failure, on one line; empty = none
  std::optional<std::chrono::milliseconds> error_age;
  std::vector<std::string> error_lines{};  // what it wrote last to stderr before that
  std::string file;                        // where it is configured; empty = a client brought it
  int line = 0;                            // in the file; 0 = not known
  bool elsewhere = false;                  // that is another file than the one that the list is about
  std::string client;
  bool served = false;  // it is the command of `corral serve -- COMMAND`

  bool operator==(const ListedServer&) const = default;
};

/// What is known. `status` is null without a daemon.
struct ListSources {
  const config::Configuration& configuration;
  const observe::Snapshot* status;
  const std::map<std::string, registry::KeptServer>& kept;
  std::int64_t now_ms;
};
/// The configured servers in the order of the file, then the others by name.
std::vector<ListedServer> list_servers(const ListSources& sources);

/// How many tools of a manifest clients may see; nothing if it has no complete list of them.
std::optional<std::uint64_t> tools_in(const std::string& manifest, const config::Server* server);

/// "config.json: 2 servers", and how many the machine's file adds.
std::string shown_counts(const config::Configuration& configuration);

/// The table; no line is wider than the page.
void show_server_list(Page& page, const std::vector<ListedServer>& servers);
/// The same as an array of JSON objects, for `--json`.
std::string servers_as_json(const std::vector<ListedServer>& servers);

}  // namespace corral::cli
