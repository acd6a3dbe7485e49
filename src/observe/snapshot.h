// The state of the daemon at one moment, as plain values: what people, agents and machines are shown is made
// from it. Names, numbers and reasons; never an argument or a variable.
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
  std::uint64_t memory = 0;  // bytes: resident and swapped
  milliseconds cpu{0};       // ever used
  milliseconds age{0};
};

struct UsageView {
  std::uint64_t memory = 0;
  double cpu = 0;  // cores, since the last time somebody looked, or on average
  std::vector<ProcessView> processes;
};

struct LimitsView {
  std::optional<std::uint64_t> memory;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> cpu_thousandths;
  std::optional<std::uint64_t> recycle;  // memory at which it is replaced
};

struct InstanceView {
  std::string server;
  std::string id;
  std::string version;  // as the server says; empty = not known yet
  pid_t pid = 0;
  pid_t keeper = 0;
  std::string state;  // "starting", "ready", "idle", "spare", "unhealthy", "ending", …
  std::string era;
  std::string share;   // "shared", "session", "root"
  std::string root;    // empty = none
  std::string stale;   // what has changed on disk; empty = nothing
  bool rolls = false;  // new sessions get the new code
  std::string reason;  // why it is shared or not
  std::string level;
  std::vector<std::uint64_t> sessions;
  std::size_t calls = 0;
  milliseconds uptime{0};
  LimitsView limits;
  std::optional<UsageView> usage;  // only if it was measured
  std::string counters;            // JSON object
};

struct SessionView {
  std::uint64_t id = 0;
  std::string server;
  pid_t client_pid = 0;
  std::string client_name;
  std::string client_version;
  std::string client_command;  // printable, without arguments that may be secrets; empty = not known
  std::string client_root;     // where it works; empty = not known
  pid_t shim = 0;
  std::string transport;  // "stdio", "http", "sse"
  std::string state;
  std::string object;    // the session object that it belongs to; empty = none
  std::string instance;  // empty = none now
  milliseconds age{0};
  std::size_t calls = 0;
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
  std::uint64_t dropped = 0;  // messages of its server that reached nobody; by URL
};

struct ServerView {
  std::string name;
  bool disabled = false;
  bool stopped = false;
  std::string broken;    // why it is not started for now; empty = it is
  std::string log_file;  // where its stderr is kept; empty = nowhere
};

struct PidFileView {
  std::string path;
  bool exists = false;
  pid_t pid = 0;
  std::string version;
  std::string started;
  bool matches = false;  // it is ours
};

struct DaemonView {
  pid_t pid = 0;
  std::string version;
  std::string build;  // YYYY-MM-DD
  int protocol = 0;
  milliseconds uptime{0};
  std::string config;
  std::string config_error;  // empty = none
  std::string registry;      // where it is; empty = nowhere
  std::string degraded;      // why the registry is; empty = it is not
  std::string lost;          // what a damaged registry has cost; empty = nothing
  std::size_t keep = 9;
  PidFileView pid_file;
};

/// A server that dies again and again.
struct CrashLoop {
  std::string server;
  std::string text;  // how often, and its last end
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
  std::vector<std::string> reasons;  // why not
};
/// Degraded if one server has more than `keep` instances, dies again and again, a process could not be ended,
/// or the registry is degraded or was damaged.
Health health_of(const Snapshot& snapshot);

/// What `corral status --json` shows; usage where it was measured.
std::string status_json(const Snapshot& snapshot);
/// `get_server_info` (S1.4), field by field.
std::string info_json(const Snapshot& snapshot);
/// Of /api/v1: {"servers":[…]}, {"instances":[…]}, {"sessions":[…]}.
std::string servers_json(const Snapshot& snapshot);
std::string instances_json(const Snapshot& snapshot);
std::string sessions_json(const Snapshot& snapshot);

}  // namespace corral::observe
