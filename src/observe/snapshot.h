// The state of the daemon at one moment, as plain values; everything that users, agents and programs see is
// made from it. The daemon fills it in and writes it as JSON; the command line reads the same values back.
// Contains names, numbers and reasons, never an argument or an environment value.
#pragma once

#include <sys/types.h>

#include <boost/json/fwd.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corral::observe {

using std::chrono::milliseconds;

// Where a number is optional although the daemon always knows it, a reader can tell 0 from a member that an
// older daemon did not send.

/// One process below a keeper.
struct ProcessView {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;
  std::string state = "?";                            // the letter of /proc/PID/stat
  std::optional<std::uint64_t> memory = 0;            // bytes: PSS and swap
  std::optional<milliseconds> cpu = milliseconds(0);  // total
  std::optional<milliseconds> age = milliseconds(0);

  bool operator==(const ProcessView&) const = default;
};

/// What the processes of one instance use.
struct UsageView {
  std::optional<std::uint64_t> memory = 0;
  std::optional<double> cpu = 0;  // cores: since the previous measurement, or the average
  std::vector<ProcessView> processes;

  bool operator==(const UsageView&) const = default;
};

/// The configured limits; empty = no limit.
struct LimitsView {
  std::optional<std::uint64_t> memory;
  std::optional<std::uint32_t> processes;
  std::optional<double> cpu;             // cores
  std::optional<std::uint64_t> recycle;  // memory at which the instance is replaced

  bool empty() const { return !memory && !processes && !cpu && !recycle; }
  bool operator==(const LimitsView&) const = default;
};

/// What one instance has counted since it started.
struct CountersView {
  std::uint64_t calls = 0;
  std::uint64_t answers = 0;
  std::uint64_t unknown_answers = 0;
  std::uint64_t late_answers = 0;
  std::uint64_t lost_answers = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t dropped_news = 0;
  std::uint64_t dropped_log_lines = 0;
  std::uint64_t kept_error_bytes = 0;
  std::uint64_t misleading = 0;
  std::uint64_t refused_questions = 0;
  std::uint64_t dropped_lines = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t stderr_bytes = 0;

  bool operator==(const CountersView&) const = default;
};

/// One running instance of a server.
struct InstanceView {
  std::string server{};
  std::string id{};
  std::string version{};  // reported by the server; empty = unknown
  pid_t pid = 0;          // 0 = not started yet
  pid_t keeper = 0;
  std::string state{};  // "starting", "ready", "idle", "spare", "unhealthy", "ending", …
  std::string era{};
  std::string share{};   // "shared", "session", "root"
  std::string root{};    // empty = none
  std::string stale{};   // what has changed on disk; empty = nothing
  bool rolls = false;    // new sessions get an instance with the new code
  std::string reason{};  // why it is shared or private
  /// Why it is not one process with another shared instance of the server: "separate from process 1040: PATH
  /// differs". Empty = there is no other. Names, never values.
  std::string separate{};
  std::vector<std::string> differs{};  // the same names as a list; at most 64
  std::string hint{};                  // what to write to share it, or with the other one; empty = nothing
  std::string unattended{};  // that nobody is attached to its clients, and what follows; empty = somebody
  std::string level{};
  std::vector<std::uint64_t> sessions{};
  std::optional<std::uint64_t> calls{};
  std::optional<milliseconds> uptime{};
  std::optional<milliseconds> ends_in{};  // when it ends if no session comes; empty = it is in use
  LimitsView limits{};
  std::optional<UsageView> usage{};  // only if it was measured
  CountersView counters{};

  bool operator==(const InstanceView&) const = default;
};

/// The program at the other end of a session.
struct ClientView {
  std::optional<pid_t> pid = 0;  // 0 = no process is known: it connects by URL
  std::string name;
  std::string version;
  std::string command;  // printable, without arguments that may be secrets; empty = unknown
  std::string root;     // its working directory; empty = unknown

  bool operator==(const ClientView&) const = default;
};

/// One client's session with one server.
struct SessionView {
  std::uint64_t id = 0;
  std::string server;
  ClientView client;
  pid_t shim = 0;
  std::string transport;  // "stdio", "http", "sse"
  std::string state;
  std::string object;    // the session object that it belongs to; empty = none
  std::string instance;  // empty = none at the moment
  std::optional<milliseconds> age{};
  std::optional<milliseconds>
      unattended{};  // since nobody is attached to its client; empty = somebody, or in doubt
  std::optional<std::uint64_t> calls{};
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
  std::uint64_t dropped = 0;  // messages from its server that could not be delivered (HTTP)

  bool operator==(const SessionView&) const = default;
};

/// A client that uses a session object.
struct AttachedView {
  std::string server;
  pid_t client_pid = 0;
  std::string state;
  std::string instance;  // empty = none at the moment

  bool operator==(const AttachedView&) const = default;
};

/// A session object: an id that owns several servers.
struct SessionObjectView {
  std::string id;
  std::string state;  // "open", "ending"
  std::vector<std::string> servers;
  std::vector<AttachedView> attached;
  std::optional<pid_t> owner;       // it ends with this process
  std::optional<milliseconds> ttl;  // it ends after this time without a message
  std::optional<milliseconds> age{};
  std::optional<milliseconds> silent{};

  bool operator==(const SessionObjectView&) const = default;
};

/// The options of a server that describe it to people, by their keys.
using About = std::map<std::string, std::string>;

/// One configured server.
struct ServerView {
  std::string name{};
  bool disabled = false;
  bool stopped = false;
  std::string broken{};    // why it is not started for now; empty = it may start
  std::string log_file{};  // the file with its stderr; empty = none
  About about{};
  std::string place{};  // where it is configured, as FILE:LINE; empty = in no file

  bool operator==(const ServerView&) const = default;
};

/// The daemon's pid file, as read back.
struct PidFileView {
  std::string path;
  bool exists = false;
  pid_t pid = 0;
  std::string version;
  std::string started;
  bool matches = false;  // it names this daemon

  bool operator==(const PidFileView&) const = default;
};

/// The daemon itself.
struct DaemonView {
  pid_t pid = 0;
  std::string version;
  std::string build;              // YYYY-MM-DD
  std::string program{};          // its path when the daemon was started
  bool program_replaced = false;  // another file is there now
  int protocol = 0;
  std::optional<milliseconds> uptime{};
  std::string config;
  std::string config_error;  // empty = none
  std::string registry;      // its path; empty = none
  std::string degraded;      // why the registry is degraded; empty = it is not
  // Not part of the status, but of the health and of `get_server_info`:
  std::string lost;  // what a damaged registry has lost; empty = nothing
  std::size_t keep = 9;
  PidFileView pid_file;

  bool operator==(const DaemonView&) const = default;
};

/// Where the daemon accepts HTTP.
struct HttpView {
  std::string url;        // empty = no TCP port
  std::string unix_path;  // empty = no socket

  bool operator==(const HttpView&) const = default;
};

/// Whether the daemon needs attention; the result of `health_of`.
struct Health {
  bool healthy = true;
  std::vector<std::string> reasons;  // why it is not healthy

  bool operator==(const Health&) const = default;
};

/// A server that dies repeatedly.
struct CrashLoop {
  std::string server;
  std::string text;  // how often, and how it ended last

  bool operator==(const CrashLoop&) const = default;
};

/// How a server failed last, and when.
struct FailureView {
  std::string server{};
  std::string text{};
  std::optional<milliseconds> age{};
  std::string kind{};  // of the event: "failed", "crash", "broken", "refused"; empty = an older daemon
  std::vector<std::string> error_lines{};  // what it wrote last to stderr

  bool operator==(const FailureView&) const = default;
};

/// What the daemon has counted since it started.
struct TotalsView {
  std::uint64_t instances_started = 0;
  std::uint64_t failed_starts = 0;
  std::uint64_t refusals = 0;  // clients that got no session, and servers that corral did not accept
  std::uint64_t crashes = 0;

  bool operator==(const TotalsView&) const = default;
};

/// Everything at one moment. Made by daemon/snapshots.cc in one turn of the loop, so its parts fit together:
/// each id in `instances[].sessions` is in `sessions`.
struct Snapshot {
  DaemonView daemon;
  Health health;  // the result of `health_of`
  HttpView http;
  std::vector<ServerView> servers;
  std::vector<InstanceView> instances;
  std::vector<SessionView> sessions;
  std::vector<SessionObjectView> objects;
  std::vector<FailureView> failures;  // of the last ten minutes, one for each server, the newest first
  TotalsView counters;
  // Not part of the status, but of the health:
  std::vector<CrashLoop> crash_loops;
  std::vector<std::string> unkillable;  // sentences about processes that could not be ended

  bool operator==(const Snapshot&) const = default;
};

// ---- judgements, each made here alone

/// Degraded if a server has more than `keep` instances or dies repeatedly, if a process could not be ended,
/// or if the registry is degraded or was damaged. Ignores `snapshot.health`, which is where its result goes.
Health health_of(const Snapshot& snapshot);

/// The state of a server whose calls are refused: "stopped" by a user, or "broken" because it died too
/// often. Empty if its calls are accepted.
std::string_view refusing_state(const ServerView& server);

// ---- as JSON. The members and their order are in observe/status_schema.h.

/// The output of `corral status --json`; with usage if it was measured.
std::string status_json(const Snapshot& snapshot);
/// The result of `get_server_info` (S1.4), field by field.
std::string info_json(const Snapshot& snapshot);
/// The results of /api/v1: {"servers":[…]}, {"instances":[…]}, {"sessions":[…]}.
std::string servers_json(const Snapshot& snapshot);
std::string instances_json(const Snapshot& snapshot);
std::string sessions_json(const Snapshot& snapshot);
/// The result of `session-list`: {"sessions":[…]}.
std::string session_objects_json(const std::vector<SessionObjectView>& objects);

// ---- from JSON that a daemon sent, which may be older or newer than this program, or hostile. A member that
// is missing or has another type becomes an empty value; unknown members are ignored. Every text is made
// printable and at most 4 KiB long. Never fails.

Snapshot read_status(const boost::json::value& status);
std::vector<SessionObjectView> read_session_objects(const boost::json::value& result);

}  // namespace corral::observe
