// Everything that judge() needs, read once and then only used: judging is pure, so every rule in it has a
// test without a process.
#pragma once

#include <unordered_map>

#include "base/result.h"
#include "known/client_configs.h"
#include "known/server_command.h"
#include "survey/attendance.h"
#include "survey/details.h"
#include "survey/far_ends.h"
#include "survey/process_table.h"
#include "survey/socket_use.h"

namespace corral::survey {

struct FarEnds {
  FarEnd in;   // the processes that can write to its stdin
  FarEnd out;  // the processes that can read its stdout
};

struct Snapshot {
  ProcessTable processes;
  std::unordered_map<pid_t, known::ServerCommand> commands;
  std::unordered_map<pid_t, Details>
      details;  // of processes whose stdin and stdout lead somewhere, and of those with corral's mark
  std::unordered_map<pid_t, FarEnds> far_ends;  // of the same
  known::Configurations configurations;
  pid_t self = 0;
  uid_t own_uid = 0;
  SocketUses sockets;  // of processes that others can reach other than by stdin and stdout
  std::unordered_map<pid_t, Attendance> attendances = {};  // of background processes of clients
};

/// What to look at besides /proc: where the user's configuration files are.
Result<Snapshot> take_snapshot(known::ConfigPlaces places);

/// The home directory ($HOME, else of the user database), environment and working directory of this process.
known::ConfigPlaces own_places();

}  // namespace corral::survey
