// Which processes may be ended: the one rule for doctor, reap, watch, the daemon's watch, the control tool
// `reap`, `run --cleanup` and recovery. Pure. Each protection is independent; any one of them spares a
// server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "survey/survey.h"

namespace corral::survey {

enum class Protection : std::uint8_t {
  OtherUser,
  OwnLine,         // the command that asks runs inside it
  Debugger,        // a debugger is attached to one of its processes
  Container,       // another PID namespace, where a path is another file
  ClientInside,    // a client runs in its tree
  Kept,            // a running corral ends it with its session
  NoEvidence,      // nothing proves that it is an MCP server
  OtherArguments,  // a configuration names its program for another job
  Listening,       // it waits for connections, so any program may use it
  Connected,       // a process is connected to it by a socket
  Pipeline,        // it is part of a shell's pipeline
};

/// On whose behalf a process is to be ended.
struct Asker {
  uid_t own_uid = 0;
  std::vector<pid_t> own_ancestors{};  // and the process itself
  bool takes_possible = false;         // also processes without proof that they are servers
  bool asked = false;  // a person asked for it; false = watch, the daemon, the start of a server
};

/// The first protection that applies; empty = it may be ended.
std::optional<Protection> protection_of(const Server& server, const Asker& asker);

/// The same, but only how others use it, as for a person who asks: a server that is used in one of these ways
/// is not an orphan, no matter what happened to its pipes.
std::optional<Protection> use_of(const Server& server);

/// One process in the instant before a signal, or one of our own remnants, which is ended by proof alone.
struct OneProcess {
  uid_t real = 0;
  uid_t effective = 0;
  pid_t tracer = 0;  // a debugger; 0 = none
  bool own = false;  // this process, or one above it
};

std::optional<Protection> protection_of(const OneProcess& process, uid_t own_uid);

/// Why, and what to do about it, for a person.
std::string reason_of(Protection protection, const Server& server);

}  // namespace corral::survey
