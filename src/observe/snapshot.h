// The state of the daemon at one moment, as plain values; everything that users, agents and programs see is
// made from it. Contains names, numbers and reasons, never an argument or an environment value.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corral::observe {

using std::chrono::milliseconds;

/// One process below a keeper.
struct ProcessView {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;
  char state = '?';
  std::uint64_t memory = 0;  // bytes, resident and swapped
  milliseconds cpu{0};       // total
  milliseconds age{0};
};

/// What the processes of one instance use.
struct UsageView {
  std::uint64_t memory = 0;
  double cpu = 0;  // cores: since the previous measurement, or the average
  std::vector<ProcessView> processes;
};

/// The configured limits; empty = no limit.
struct LimitsView {
  std::optional<std::uint64_t> memory;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> cpu_thousandths;
  std::optional<std::uint64_t> recycle;  // memory at which the instance is replaced
};

/// One running instance of a server.
struct InstanceView {
  std::string server;
  std::string id;
  std::string version;  // reported by the server; empty = unknown
  pid_t pid = 0;
  pid_t keeper = 0;
  std::string state;  // "starting", "ready", "idle", "spare", "unhealthy", "ending", …
  std::string era;
  std::string share;   // "shared", "session", "root"
  std::string root;    // empty = none
  std::string stale;   // what has changed on disk; empty = nothing
  bool rolls = false;  // new sessions get an instance with the new code
  std::string reason;  // why it is shared or private
  std::string level;
  std::vector<std::uint64_t> sessions;
  std::size_t calls = 0;
  milliseconds uptime{0};
  LimitsView limits;
  std::optional<UsageView> usage;  // only if it was measured
  std::string counters;            // JSON object
};

/// One client's session with one server.
struct SessionView {
  std::uint64_t id = 0;
  std::string server;
  pid_t client_pid = 0;
  std::string client_name;
  std::string client_version;
  std::string client_command;  // printable, without arguments that may be secrets; empty = unknown
  std::string client_root;     // its working directory; empty = unknown
  pid_t shim = 0;
  std::string transport;  // "stdio", "http", "sse"
  std::string state;
  std::string object;    // the session object that it belongs to; empty = none
  std::string instance;  // empty = none at the moment
  milliseconds age{0};
  std::size_t calls = 0;
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
  std::uint64_t dropped = 0;  // messages from its server that could not be delivered (HTTP)
};

/// One configured server.
struct ServerView {
  std::string name;
  bool disabled = false;
  bool stopped = false;
  std::string broken;    // why it is not started for now; empty = it may start
  std::string log_file;  // the file with its stderr; empty = none
};

/// The daemon's pid file, as read back.
struct PidFileView {
  std::string path;
  bool exists = false;
  pid_t pid = 0;
  std::string version;
  std::string started;
  bool matches = false;  // it names this daemon
};

/// The daemon itself.
struct DaemonView {
  pid_t pid = 0;
  std::string version;
  std::string build;  // YYYY-MM-DD
  int protocol = 0;
  milliseconds uptime{0};
  std::string config;
  std::string config_error;  // empty = none
  std::string registry;      // its path; empty = none
  std::string degraded;      // why the registry is degraded; empty = it is not
  std::string lost;          // what a damaged registry has lost; empty = nothing
  std::size_t keep = 9;
  PidFileView pid_file;
};

/// A server that dies repeatedly.
struct CrashLoop {
  std::string server;
  std::string text;  // how often, and how it ended last
};

struct Snapshot {
  DaemonView daemon;
  std::string http_url;
  std::string http_unix;
  std::vector<ServerView> servers;
  std::vector<InstanceView> instances;
  std::vector<SessionView> sessions;
  std::string objects = "[]";  // JSON array
  std::vector<CrashLoop> crash_loops;
  std::vector<std::string> unkillable;  // sentences about processes that could not be ended
  std::uint64_t instances_started = 0;
};

struct Health {
  bool healthy = true;
  std::vector<std::string> reasons;  // why it is not healthy
};
/// Degraded if a server has more than `keep` instances or dies repeatedly, if a process could not be ended,
/// or if the registry is degraded or was damaged.
Health health_of(const Snapshot& snapshot);

/// The output of `corral status --json`; with usage if it was measured.
std::string status_json(const Snapshot& snapshot);
/// The result of `get_server_info` (S1.4), field by field.
std::string info_json(const Snapshot& snapshot);
/// The results of /api/v1: {"servers":[…]}, {"instances":[…]}, {"sessions":[…]}.
std::string servers_json(const Snapshot& snapshot);
std::string instances_json(const Snapshot& snapshot);
std::string sessions_json(const Snapshot& snapshot);

}  // namespace corral::observe
