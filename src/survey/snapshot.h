// Everything that the judgement needs, gathered once and then only looked at: judging is pure, so every rule
// in it has a test without a single process.
#pragma once

#include <unordered_map>

#include "base/result.h"
#include "known/client_configs.h"
#include "known/server_command.h"
#include "survey/details.h"
#include "survey/far_ends.h"
#include "survey/process_table.h"
#include "survey/socket_use.h"

namespace corral::survey {

struct FarEnds {
  FarEnd in;   // who can write to its stdin
  FarEnd out;  // who can read its stdout
};

struct Snapshot {
  ProcessTable processes;
  std::unordered_map<pid_t, known::ServerCommand> commands;
  std::unordered_map<pid_t, Details>
      details;  // of processes whose stdin and stdout lead somewhere, and of ours
  std::unordered_map<pid_t, FarEnds> far_ends;  // of the same
  known::Configurations configurations;
  pid_t self = 0;
  uid_t own_uid = 0;
  SocketUses sockets;  // of processes that others can speak to other than over stdin and stdout
};

/// What to look at besides /proc: where the user's configuration files are.
Result<Snapshot> take_snapshot(known::ConfigPlaces places);

/// The home directory ($HOME, else of the user database), environment and working directory of this process.
known::ConfigPlaces own_places();

}  // namespace corral::survey
