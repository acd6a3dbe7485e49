// One event: something that happened in the daemon, as one value. The code that reports it fills in what it
// knows, and all readers (log, registry, metrics, `corral events`) see the same value.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corral {
struct SlowTurn;
}

namespace corral::events {

enum class Kind : std::uint8_t {
  Start,     // the daemon started
  Shutdown,  // the daemon is shutting down
  Spawn,     // an instance is started for the first time in its slot
  Restart,   // an instance is started after another one died in that slot
  Ready,     // its handshake is complete; `took` is the cold start
  Attach,    // a session got an instance, or is answered from the manifest; `cause` says which
  Detach,    // a session ended; `cause` says why
  Crash,     // an instance ended without being told to
  Failed,    // an instance could not be started, or refused the handshake; `cause` says which
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
  /// Nobody is attached any more to the client of a session; `cause`: parked, or kept because it may keep
  /// state.
  Unattended,
  Drift,     // a client, or somebody else, has changed what `corral adopt` wrote; `cause` says how
  SlowTurn,  // a turn of the loop took too long; `cause` is the work, `took` the CPU time
};

/// The machine-readable names: "spawn", "ready", …
const char* name_of(Kind kind);
std::optional<Kind> kind_called(std::string_view name);
/// Whether it says that a server could not be used: a failed start, a refusal, a crash, or too many of them.
bool is_failure(Kind kind);

/// The causes that belong to one kind of event, or that a reader decides by. Other causes are named where
/// they arise: why corral ended an instance (pool/), why a session ended, which work made a turn slow.
enum class Cause : std::uint8_t {
  // Attach: how the session got its server.
  Spawn,     // an instance was started for it
  Warm,      // an instance was running
  Spare,     // an instance had been started in advance
  Manifest,  // none yet: it is answered from what is known about the server
  // Spawn, Restart; also Spare.
  Shared,
  Private,
  // Crash, and the Extinct or Survivor that follows.
  Died,
  Hung,  // it no longer answered
  // Reap, Finding.
  Restart,    // an earlier daemon left a process behind, which was ended
  Remnant,    // an earlier daemon left a process behind, which could not be ended
  Container,  // the container of an earlier instance was removed
  // Registry.
  Whole,     // it works again
  Degraded,  // it cannot be written
  Damaged,   // its file was damaged and has been replaced
  Older,     // its file is from before the first release and has been replaced
  Lost,      // some records could not be written in time
  // Unattended; a Stop has the first one as well.
  Parked,
  Kept,
};
/// The word in events: "spawn", "warm", …
const char* name_of(Cause cause);

/// Plain data; copied freely.
struct Event {
  std::uint64_t number = 0;  // set by the stream; increases, even across daemons
  std::int64_t time_ms = 0;  // Unix time, set by the stream
  Kind kind = Kind::Start;
  std::string server{};    // name of the server; empty = none
  std::string instance{};  // id of the instance
  std::uint64_t session = 0;
  pid_t pid = 0;
  std::string cause{};  // one machine-readable word
  std::string text{};   // one sentence for users; never contains an argument or a variable
  /// Of a failure: the last lines that the server wrote to stderr, as it wrote them.
  std::vector<std::string> error_lines{};
  std::optional<std::chrono::milliseconds> took{};
  std::uint64_t count = 0;  // processes, where that applies

  void set_cause(Cause word) { cause = name_of(word); }
  bool has_cause(Cause word) const { return cause == name_of(word); }
};

/// A turn of the loop that took too long, as an event: which work it was and how much of it, without text
/// from a peer. `cause` is the work that took longest, `count` its amount, `took` the thread's CPU time.
Event event_of(const SlowTurn& turn);

/// The event as JSON members without braces: kind, server, instance, session, cause, took and count.
std::string members_of(const Event& event);

/// The text without the word of the kind at its beginning: for readers that show the kind before it.
std::string sentence_of(const Event& event);

/// The last lines of what a server wrote to stderr, for `Event::error_lines`: at most ten, each cut
/// to 300 bytes. Empty lines are left out.
std::vector<std::string> last_lines(std::string_view text);

/// One JSON object; docs/operations/observing.md describes it.
std::string to_json(const Event& event);

}  // namespace corral::events
