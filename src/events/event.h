// What happened, as one value: who tells it fills in what it knows, and everybody who looks on (log,
// registry, metrics, `corral events`) reads the same.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral::events {

enum class Kind : std::uint8_t {
  Start,     // the daemon
  Shutdown,  // the daemon
  Spawn,     // an instance is started for the first time in its place
  Restart,   // an instance is started after another one died there
  Ready,     // its handshake is over; `took` is the cold start
  Attach,    // a session has got an instance, or the word of the manifest; `cause`: "spawn", "warm", "spare",
             // "manifest"
  Detach,    // a session is over; `cause` is why
  Crash,     // an instance ended by itself
  Stop,  // an instance is being ended by us; `cause` is why ("idle", "evicted", "recycled", "stopped", …)
  Extinct,   // its tree is proved gone; `took` from the decision to the proof, `count` processes
  Survivor,  // a process could not be ended, or the proof is missing
  Broken,    // a server died too often and is not started for now
  Stale,     // the files of a running server have changed
  Refused,   // somebody did not get what he asked for
  Reload,    // another configuration is in force, or could not be
  Reap,      // a remnant of an earlier daemon, or a foreign copy, was ended
  Finding,   // the watchdog saw something that should not be
  Registry,  // the registry is degraded, or whole again
  SlowTurn,  // a turn of the loop took too long; `cause` is the work, `took` the processor's time
};

/// "spawn", "ready", …
const char* name_of(Kind kind);
std::optional<Kind> kind_called(std::string_view name);

struct Event {
  std::uint64_t number = 0;  // given by the stream; grows, also from one daemon to the next
  std::int64_t time_ms = 0;  // since 1970, given by the stream
  Kind kind = Kind::Start;
  std::string server{};    // its name; empty = about none
  std::string instance{};  // its id
  std::uint64_t session = 0;
  pid_t pid = 0;
  std::string cause{};  // one word, for those who count
  std::string text{};   // one sentence, for people; never an argument or a variable
  std::optional<std::chrono::milliseconds> took{};
  std::uint64_t count = 0;  // processes, where that says something
};

/// What it is about, as JSON members without braces: its kind, server, instance, session, cause, took and
/// count.
std::string members_of(const Event& event);

/// One JSON object; docs/operations/observing.md describes it.
std::string to_json(const Event& event);

}  // namespace corral::events
