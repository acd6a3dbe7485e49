// Which processes are MCP servers, one at a time: what each shows by itself, before trees and clients are put
// together. Pure.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "survey/survey.h"

namespace corral::survey {

using RunningClients = std::unordered_map<pid_t, const known::KnownClient*>;

struct Mark {
  std::vector<Evidence> evidence;
  std::vector<std::string> configured_as;
  std::vector<std::string> configured_clients;  // their ids
  Arguments arguments = Arguments::NotConfigured;
  bool confirmed = false;
  bool ours = false;  // carries corral's mark, and did not just copy it
};

using Marks = std::unordered_map<pid_t, Mark>;

/// Adds programs built on an MCP SDK to `clients` where they hold the pipes of a server.
Marks mark_servers(const Snapshot& snapshot, RunningClients& clients);

RunningClients find_known_clients(const Snapshot& snapshot);

/// Which kind of client a program is by the MCP SDK that it is built on; null if none.
const known::KnownClient* sdk_client(const known::ServerCommand& command);

/// Null for a process whose command line is hidden.
const known::ServerCommand* command_of(const Snapshot& snapshot, pid_t pid);

/// Whoever has the other end of both stdin and stdout.
std::vector<pid_t> partners(const FarEnds& ends);

}  // namespace corral::survey
