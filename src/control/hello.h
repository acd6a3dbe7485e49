// The first line that anyone sends to the daemon, and what the daemon says back. One JSON object per line, so
// that a script can speak it too (docs/protocol/control.md).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::control {

/// What programs write, and the newest that the daemon serves.
inline constexpr int kProtocol = 3;
/// The oldest that the daemon serves. 1 and 2 were never released.
inline constexpr int kOldestProtocol = 3;
/// The code of a refusal whose only reason is the number: the program may do without the daemon. EX_PROTOCOL.
inline constexpr int kWrongProtocol = 76;
inline constexpr std::size_t kLongestHello = std::size_t{4} << 20;  // an environment can be that large
inline constexpr std::size_t kMostServers = 64;                     // of one session object
inline constexpr std::size_t kMostEvents = 1000;                    // in one reply
inline constexpr std::chrono::milliseconds kLongestWait = std::chrono::minutes(1);  // for an event
inline constexpr std::chrono::milliseconds kLongestTtl = std::chrono::hours(24 * 366);

enum class Verb {
  Connect,
  Status,
  Shutdown,
  Reload,
  Restart,
  Stop,
  Start,
  SessionCreate,
  SessionEnd,
  SessionList,
  Info,
  Events,
  Metrics,
};

/// Descriptors travel beside the first byte, in this order: those whose name is in `descriptors`.
struct Hello {
  int protocol = kProtocol;
  Verb verb = Verb::Connect;
  std::string version;  // of the program that speaks, for people

  std::string server;  // Connect, Restart, Stop, Start: a configured name. Connect: empty = `argv`
  std::string
      session;  // Connect, SessionEnd: the id of a session object; SessionEnd: also the number of a session

  bool measure = false;  // Status: with what each tree uses

  // Events only.
  std::uint64_t after = 0;            // those that came later than this number
  std::size_t limit = 1000;           // at most so many
  std::chrono::milliseconds wait{0};  // for the first one, if there is none

  // Connect and SessionCreate.
  std::string cwd;                       // of the shim, resolved
  std::vector<std::string> environment;  // of the shim, all of it, "NAME=value"; the daemon chooses

  // Connect only.
  std::vector<std::string> argv;         // a command of the client's own
  std::string root;                      // the project, resolved; empty = `cwd`
  std::string share;                     // "", "shared", "session", "root": what --share asked for
  pid_t client = 0;                      // the shim's parent, for people
  std::vector<std::string> descriptors;  // "input", "output", "client" (a pidfd of the parent)

  // SessionCreate only.
  std::vector<std::string> servers;                // configured names
  std::vector<std::vector<std::string>> commands;  // of the creator's own
  pid_t owner = 0;                                 // whose death ends the session; 0 = nobody's
  std::chrono::milliseconds ttl{0};                // of silence that ends the session; 0 = the default
};

std::string encode(const Hello& hello);
/// Hostile input: an unknown verb, a wrong type, a missing member are errors that say so. Unknown members are
/// ignored, for the sake of newer programs.
Result<Hello> decode_hello(std::string_view line);

/// What the daemon says. Lines, except that `Stderr` is followed by as many bytes as it says.
struct Reply {
  enum class Kind {
    Accepted,  // the session exists
    RunIt,     // do it yourself, here: `text` says why
    Refused,   // `text` says why, `code` is the exit code
    Note,      // one line for people, on stderr
    Stderr,    // `size` bytes follow
    Status,    // `text` is JSON
    Result,    // what the verb came to; `text` is JSON
    Exit,      // the session is over: `code`, `text` if there is something to say
  };
  Kind kind = Kind::Note;
  std::string text;
  int code = 0;
  std::size_t size = 0;
  int protocol = 0;     // Accepted, Refused: the newest that the daemon speaks
  std::string version;  // Accepted: of the daemon

  /// Whether the daemon says `RunIt` because it is about to end: another one may run soon.
  bool is_from_ending_daemon() const;
};

/// What a daemon says to a program that comes while it ends. Older and newer programs look for the words
/// "shutting down" in it, because the protocol has no member for the reason: do not change them.
inline constexpr const char* kShuttingDown = "the daemon is shutting down";

std::string encode(const Reply& reply);
Result<Reply> decode_reply(std::string_view line);

}  // namespace corral::control
