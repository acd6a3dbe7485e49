// Who may be ended: the one rule that doctor, reap, watch, the daemon's watch, the control tool `reap`,
// `run --cleanup` and recovery ask. Pure. Each protection stands alone; any one of them spares a server.
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
  Debugger,        // somebody debugs a process of it
  Container,       // another PID namespace, where a path is another file
  ClientInside,    // a client runs in its tree
  Kept,            // a living corral ends it with its session
  NoEvidence,      // nothing proves that it speaks MCP
  OtherArguments,  // a configuration names its program for another job
  Listening,       // it waits for connections, so anybody may use it
  Connected,       // somebody speaks to it over a socket
  Pipeline,        // it is part of a shell's pipeline
};

/// Who wants to end something.
struct Asker {
  uid_t own_uid = 0;
  std::vector<pid_t> own_ancestors{};  // and the process itself
  bool takes_possible = false;         // also what nothing proves to be a server
  bool asked = false;                  // a person wants this; false = watch, the daemon, a server's start
};

/// The first protection that holds; nothing = it may be ended.
std::optional<Protection> protection_of(const Server& server, const Asker& asker);

/// The same, but only how others use it, as for a person who asks: a server that is used in one of these ways
/// is not an orphan, whatever became of its pipes.
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
