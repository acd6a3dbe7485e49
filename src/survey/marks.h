// Which processes are MCP servers: what each process shows by itself, before judge() groups them into trees
// and finds their clients. Pure. The head of marks.cc lists what counts as proof.
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

/// The row of the table for a client built on this MCP SDK; null if there is none.
const known::KnownClient* sdk_client(const known::ServerCommand& command);

/// Null for a process whose command line is hidden.
const known::ServerCommand* command_of(const Snapshot& snapshot, pid_t pid);

/// The processes that have the other end of both stdin and stdout.
std::vector<pid_t> partners(const FarEnds& ends);

}  // namespace corral::survey
