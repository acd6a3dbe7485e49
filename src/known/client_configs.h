// The servers that the clients of this user are configured to start, from the clients' own files. Read-only;
// a file that cannot be read or understood is a note, never a failure.
#pragma once

#include <string>
#include <vector>

#include "known/config_places.h"
#include "known/known_programs.h"
#include "known/server_command.h"

namespace corral::known {

struct ConfiguredServer {
  std::string client;             // id of the known client
  std::string name;               // as the file calls it
  std::vector<std::string> argv;  // command and args; empty for a server that is reached by URL
  ServerCommand command;
  std::string file;
  std::string project;  // the root that the entry is for; empty = all
};

struct ConfigNote {
  std::string file;
  std::string message;  // cause, with line and column if the file is broken, and what to do
};

struct Configurations {
  std::vector<ConfiguredServer> servers;
  std::vector<std::string> files;  // that exist and were understood
  std::vector<ConfigNote> notes;
};

Configurations read_client_configs(const ConfigPlaces& places);

/// One file's text. `name` and `client` go into the result.
Configurations parse_client_config(const std::string& text, const ConfigFile& place, const std::string& name,
                                   const KnownClient& client, const ConfigPlaces& places);

}  // namespace corral::known
