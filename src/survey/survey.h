// What is on this machine: clients, servers, whom each server serves, and how we know. Made by judge() from a
// snapshot.
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
    Socket,  // others speak to it over a socket
  };

  Kind kind;
  std::string text;  // a clause for a person
};

const char* name_of(Evidence::Kind kind);

/// Whom a server serves, or served.
struct Client {
  std::string id;    // of the known client; empty = a program that we don't know
  std::string name;  // never empty: "Claude Code", "node agent.js", "unknown"
  pid_t pid = 0;     // 0 = gone, or never found
  std::string command;
  std::string root;  // where it works
  std::chrono::milliseconds age{0};

  bool alive() const { return pid != 0; }
};

struct Server {
  enum class State : std::uint8_t {
    Serving,  // somebody has the other end of its pipes
    Orphan,   // nobody can ever speak to it again
    Kept,     // below a living corral, which ends it with its session
    Apart,    // used in another way: a service with a socket of its own, or on a terminal
  };
  enum class Certainty : std::uint8_t { Confirmed, Possible };
  enum class Cause : std::uint8_t {  // of an orphan
    None,
    ClientGone,    // its client is no more
    LetGo,         // its client lives and has closed the pipes
    LauncherGone,  // the wrapper that the client knew is gone, and the server behind it was never told
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
  std::string connected;      // who speaks to it over a socket, in words; empty = nobody
  pid_t pipeline = 0;         // a process beside it in a shell's pipeline; 0 = none
  bool in_container = false;  // its top is in another PID namespace than we are
  bool debugged = false;      // one of the tree has a debugger
  std::vector<Evidence> evidence;

  // Filled in by examine(), because they cost more to read.
  std::vector<proc::Identity> identities;  // of the tree
  Memory memory;                           // of the whole tree
  double cpu = 0;                          // cores, in the moment of looking; orphans only
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
  std::vector<std::string> limits_of_sight;  // what we may not see, in sentences
  uid_t own_uid = 0;                         // of whoever looked
  std::size_t processes = 0;                 // looked at
};

/// The known client that a process is; null if none.
const known::KnownClient* recognise_client(const Process& process, const known::ServerCommand& command);

/// Pure.
Survey judge(const Snapshot& snapshot);

/// Opens each process of the servers, makes sure that it still is the one of the snapshot, and reads what
/// costs more: identity, memory, age of its files, and (of orphans, over a moment) processor time. Servers
/// that are gone are taken out.
void examine(Survey& survey, const Snapshot& snapshot);

/// Snapshot, judgement and examination.
Result<Survey> look_around();

/// The top of the tree that a process belongs to as a server: up through launchers that handed their stdin
/// on.
pid_t top_of(const Snapshot& snapshot, pid_t pid);

/// Whether a process is a `corral run`, or a wrapper (`sh -c 'corral run …'`, `timeout 9 corral run …`) of
/// one that runs the same server. That server is kept by the corral below.
bool hands_on_to_corral(const Snapshot& snapshot, pid_t pid);

}  // namespace corral::survey
