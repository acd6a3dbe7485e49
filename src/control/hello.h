// The messages of the control socket: the first line that a program sends (hello) and the daemon's replies.
// One JSON object per line, so that scripts can use the protocol too (docs/protocol/control.md). Encoding and
// decoding are pure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::control {

/// The protocol version that programs send, and the newest that the daemon serves.
inline constexpr int kProtocol = 3;
/// The oldest that the daemon serves. 1 and 2 were never released.
inline constexpr int kOldestProtocol = 3;
/// The protocol versions that the daemon serves, for a message to a person: "3", or "3 to 5".
std::string served_protocols();
/// The code of a refusal because of the protocol version: the program may continue without the daemon.
/// EX_PROTOCOL.
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

/// Descriptors are sent with the first byte; `descriptors` names them, in order.
struct Hello {
  int protocol = kProtocol;
  Verb verb = Verb::Connect;
  std::string version;  // of the sending program; only shown to users

  std::string server;  // Connect, Restart, Stop, Start: a configured name. Connect: empty = `argv`
  std::string
      session;  // Connect, SessionEnd: the id of a session object; SessionEnd: also the number of a session

  bool measure = false;  // Status: measure what each process tree uses

  // Events only.
  std::uint64_t after = 0;            // only events with a higher number
  std::size_t limit = 1000;           // maximum number of events
  std::chrono::milliseconds wait{0};  // how long to wait for the first event

  // Connect and SessionCreate.
  std::string cwd;                       // of the shim, resolved
  std::vector<std::string> environment;  // all variables of the shim, "NAME=value"; the daemon selects

  // Connect only.
  std::vector<std::string> argv;    // a command instead of a configured server
  std::string name;                 // for the command; empty = the daemon finds one
  std::string root;                 // the project, resolved; empty = `cwd`
  std::string share;                // "", "shared", "session", "root": what --share asked for
  bool quiet = false;               // the client prints the answers: no advice, and not twice why it failed
  std::vector<std::string> ignore;  // with `argv`: what makes no difference to the command
  pid_t client = 0;                 // the shim's parent; only shown to users
  std::vector<std::string> descriptors;  // "input", "output", "client" (a pidfd of the parent)

  // SessionCreate only.
  std::vector<std::string> servers;                // configured names
  std::vector<std::vector<std::string>> commands;  // commands besides the configured servers
  pid_t owner = 0;                                 // the session ends when this process ends; 0 = none
  std::chrono::milliseconds ttl{0};                // the session ends after this silence; 0 = the default
};

std::string encode(const Hello& hello);
/// The input may be hostile. An unknown verb, a wrong type or a missing member is an error that names it.
/// Unknown members are ignored, because newer programs may send them.
Result<Hello> decode_hello(std::string_view line);

/// One message from the daemon: a line; only `Stderr` is followed by `size` raw bytes.
struct Reply {
  enum class Kind {
    Accepted,  // the session exists; said again, it goes on although the client's process has exited
    RunIt,     // the shim must run the server itself; `text` says why
    Refused,   // `text` says why, `code` is the exit code
    Note,      // one line for the user's stderr
    Stderr,    // `size` bytes follow
    Status,    // `text` is JSON
    Result,    // the result of the verb; `text` is JSON
    Exit,      // the session has ended with `code`; `text` is a message or empty
  };
  Kind kind = Kind::Note;
  std::string text;
  int code = 0;
  std::size_t size = 0;
  int protocol = 0;     // Accepted, Refused: the newest version that the daemon serves
  std::string version;  // Accepted: of the daemon

  /// Whether this is a `RunIt` because the daemon is shutting down: another daemon may run soon.
  bool is_from_ending_daemon() const;
};

/// The daemon's reply to a program that connects while the daemon shuts down. Older and newer programs look
/// for the words "shutting down", because the protocol has no member for the reason: do not change them.
inline constexpr const char* kShuttingDown = "the daemon is shutting down";

std::string encode(const Reply& reply);
Result<Reply> decode_reply(std::string_view line);

}  // namespace corral::control
