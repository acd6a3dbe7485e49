// One event: something that happened in the daemon, as one value. The code that reports it fills in what it
// knows, and all readers (log, registry, metrics, `corral events`) see the same value.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral::events {

enum class Kind : std::uint8_t {
  Start,     // the daemon started
  Shutdown,  // the daemon is shutting down
  Spawn,     // an instance is started for the first time in its slot
  Restart,   // an instance is started after another one died in that slot
  Ready,     // its handshake is complete; `took` is the cold start
  /// A session got an instance, or answers from the manifest; `cause`: "spawn", "warm", "spare", "manifest".
  Attach,
  Detach,  // a session ended; `cause` says why
  Crash,   // an instance ended without being told to
  /// corral ends an instance; `cause` says why ("idle", "evicted", "recycled", "stopped", …).
  Stop,
  Extinct,   // its tree is proved to be gone; `took` from the decision to the proof, `count` processes
  Survivor,  // a process could not be ended, or there is no proof
  Broken,    // a server died too often and is not started for now
  Stale,     // the files of a running server have changed
  Refused,   // a request was refused; `cause` says why
  Reload,    // a new configuration is in force, or was rejected
  Reap,      // a remnant of an earlier daemon, or a foreign copy, was ended
  Finding,   // the watchdog found an inconsistency
  Registry,  // the registry is degraded, or works again
  SlowTurn,  // a turn of the loop took too long; `cause` is the work, `took` the CPU time
};

/// The machine-readable names: "spawn", "ready", …
const char* name_of(Kind kind);
std::optional<Kind> kind_called(std::string_view name);

/// Plain data; copied freely.
struct Event {
  std::uint64_t number = 0;  // set by the stream; increases, also across daemons
  std::int64_t time_ms = 0;  // Unix time, set by the stream
  Kind kind = Kind::Start;
  std::string server{};    // name of the server; empty = none
  std::string instance{};  // id of the instance
  std::uint64_t session = 0;
  pid_t pid = 0;
  std::string cause{};  // one machine-readable word
  std::string text{};   // one sentence for users; never contains an argument or a variable
  std::optional<std::chrono::milliseconds> took{};
  std::uint64_t count = 0;  // processes, where that applies
};

/// The event as JSON members without braces: kind, server, instance, session, cause, took and count.
std::string members_of(const Event& event);

/// One JSON object; docs/operations/observing.md describes it.
std::string to_json(const Event& event);

}  // namespace corral::events
