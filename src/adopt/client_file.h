// The configuration files of this user's clients, and the servers in them with what corral would do. Reads
// files, changes nothing.
#pragma once

#include <string>
#include <vector>

#include "adopt/entry_text.h"
#include "adopt/judgement.h"
#include "base/result.h"
#include "known/config_places.h"

namespace corral::adopt {

struct ClientFile {
  const known::KnownClient* client = nullptr;
  known::ConfigScope scope = known::ConfigScope::User;
  std::string path;                 // as it is found, symbolic links not followed
  std::vector<std::string> tables;  // "mcpServers", "projects/*/mcpServers"
};

/// The files that exist, in the order of the table of clients; each one once, however many ways lead to it.
/// `clients` are ids; empty = all.
std::vector<ClientFile> find_files(const known::ConfigPlaces& places,
                                   const std::vector<std::string>& clients);

/// By its name: config.toml is TOML, everything else JSON.
known::ConfigFormat format_of(const std::string& file);

struct FoundServer {
  EntryText entry;
  Judgement judged;
  std::string hash;  // of its command and arguments
};

/// The servers in the text of a file. An error is "FILE:LINE:COLUMN: …".
Result<std::vector<FoundServer>> read_servers(const ClientFile& file, const std::string& text,
                                              Through through);

struct FileLook {
  ClientFile file;
  std::string error;  // why its servers are not known; empty = they are
  std::vector<FoundServer> servers;
};

FileLook look_at(const ClientFile& file, Through through);

}  // namespace corral::adopt
