// What runs on this machine: clients, servers, which client each server serves, and the evidence for it.
// judge() makes it from a snapshot, examine() adds what is slow to read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "known/known_programs.h"
#include "known/server_command.h"
#include "proc/identity.h"
#include "survey/arguments.h"
#include "survey/details.h"
#include "survey/snapshot.h"

namespace corral::survey {

struct Evidence {
  enum class Kind : std::uint8_t {
    Tag,            // started by corral
    Configuration,  // a client's file names its command
    Pipe,           // its stdin and stdout lead, or led, somewhere
    Package,        // its package is built on an MCP SDK
    Parent,
    Environment,
    Cgroup,
    Session,
    StartTime,
    Name,    // only a hint
    Socket,  // other processes use it over a socket
  };

  Kind kind;
  std::string text;  // a clause for a person
};

const char* name_of(Evidence::Kind kind);

/// The client that a server serves, or served.
struct Client {
  std::string id;    // of the known client; empty = not a known client
  std::string name;  // never empty: "Claude Code", "node agent.js", "unknown"
  pid_t pid = 0;     // 0 = gone, or never found
  std::string command;
  std::string root;  // where it works
  std::chrono::milliseconds age{0};
  bool unattended = false;  // a background process, and nobody is attached to it

  bool alive() const { return pid != 0; }
};

struct Server {
  enum class State : std::uint8_t {
    Serving,  // another process has the other end of its pipes
    Orphan,   // no process can ever write to it again
    Kept,     // below a running corral, which ends it with its session
    Apart,    // used in another way: a service with a socket of its own, or on a terminal
  };
  enum class Certainty : std::uint8_t { Confirmed, Possible };
  enum class Cause : std::uint8_t {  // of an orphan
    None,
    ClientGone,    // its client has exited
    LetGo,         // its client runs and has closed the pipes
    LauncherGone,  // the wrapper that the client had started is gone, and the server below it was not told
    CorralKilled,  // started by corral, whose processes were all killed
  };

  pid_t pid = 0;            // the top of its tree
  std::vector<pid_t> tree;  // with the top, parents first
  uid_t uid = 0;
  known::ServerCommand command;
  std::string shown;  // its command line, safe to print
  std::string root;   // where it works: the project, for most clients
  std::chrono::milliseconds age{0};
  State state = State::Serving;
  Certainty certainty = Certainty::Possible;
  Cause cause = Cause::None;
  Client client;
  pid_t client_inside = 0;                 // a known client that runs in its tree; 0 = none
  std::vector<std::string> configured_as;  // "claude-code: files"
  Arguments arguments = Arguments::NotConfigured;
  std::string listens;        // where it waits for connections, in words; empty = nowhere
  std::string connected;      // what is connected to it by a socket, in words; empty = nothing
  pid_t pipeline = 0;         // a process beside it in a shell's pipeline; 0 = none
  bool in_container = false;  // its top is in another PID namespace than this process
  bool debugged = false;      // one of the tree has a debugger
  std::vector<Evidence> evidence;

  // Filled in by examine(), because they cost more to read.
  std::vector<proc::Identity> identities;  // of the tree
  Memory memory;                           // of the whole tree
  double cpu = 0;                          // cores, during the examination; orphans only
  std::string stale_file;                  // newer than the process; empty = none
};

struct RunningClient {
  Client client;
  std::vector<pid_t> servers;  // tops of their trees
};

struct Survey {
  std::vector<RunningClient> clients;
  std::vector<Server> servers;  // oldest first
  known::Configurations configurations;
  std::vector<std::string> limits_of_sight;  // what could not be seen, in sentences
  uid_t own_uid = 0;                         // of the user that looked
  std::size_t processes = 0;                 // looked at
};

/// The known client that a process is; null if it is not one.
const known::KnownClient* recognise_client(const Process& process, const known::ServerCommand& command);

/// Pure.
Survey judge(const Snapshot& snapshot);

/// Opens each process of the servers, makes sure that it still is the one of the snapshot, and reads what is
/// slow: identity, memory, age of its files, and for orphans the processor time over a moment, for which it
/// waits. Servers that have exited are removed.
void examine(Survey& survey, const Snapshot& snapshot);

/// Snapshot, judge() and examine(). Takes a few hundred milliseconds; not for the daemon's loop.
Result<Survey> look_around();

/// The top of the tree that a process belongs to as a server: up through launchers that pass their stdin on.
pid_t top_of(const Snapshot& snapshot, pid_t pid);

/// Whether a process is a `corral run`, or a wrapper (`sh -c 'corral run …'`, `timeout 9 corral run …`) of
/// one that runs the same server. The corral below keeps that server.
bool hands_on_to_corral(const Snapshot& snapshot, pid_t pid);

}  // namespace corral::survey
