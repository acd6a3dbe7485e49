// One request to the running daemon, from a program that needs an answer but no session. Every command, and
// `corral serve` when it looks for a predecessor, asks through this class, so there is one place that knows
// how a request can fail and one sentence for each failure. Starts no daemon.
//
// Used by one thread. `wait` blocks, but never beyond the patience; `poll` never blocks, for a caller that
// waits for keys and signals at the same time. Destroying a request closes its connection; the daemon then
// drops the answer, but it still does what it was asked to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "control/control_socket.h"
#include "control/hello.h"

namespace corral::control {

/// For requests that the daemon answers from what it knows.
inline constexpr std::chrono::seconds kTellPatience{10};
/// For requests that end or replace instances. It is longer than what the daemon allows itself: the time for
/// calls in flight is configured there.
inline constexpr std::chrono::minutes kWorkPatience{5};

/// Whether the daemon reads /proc for what each tree uses.
enum class Measure { No, Yes };

Hello status_hello(Measure measure = Measure::No);
/// A verb that takes no member, or only the name of a server.
Hello verb_hello(Verb verb, const std::string& server = {});

/// What became of a request.
struct DaemonAnswer {
  enum class Kind {
    Ok,           // `text` is JSON; after a shutdown a sentence, or empty
    NoDaemon,     // nothing listens
    Unreachable,  // a process listens, but the connection failed
    HungUp,       // the daemon closed the connection before it answered
    Silent,       // no answer came in time
    Refused,      // the daemon said no; `text` has its reason
    Busy,         // the daemon has no room for another connection now
    Garbled,      // the reply is invalid
  };

  Kind kind = Kind::NoDaemon;
  std::string text;  // the answer, or a sentence for a person that says why there is none

  bool ok() const { return kind == Kind::Ok; }
};

/// What a program wanted of a daemon. It decides what a person is told to do when none is running.
enum class Purpose : std::uint8_t {
  Show,    // what runs now
  Recall,  // what has happened
  Change,  // a running server
  Adopt,   // a changed configuration
  Own,     // a session object
  Listen,  // by URL
  End,     // the daemon itself
};
/// Of a request with this verb.
Purpose purpose_of(Verb verb);
/// The only place with this message: "no daemon is running", and what that means or which command helps.
std::string no_daemon_is_running(Purpose purpose);

class DaemonRequest {
 public:
  using Clock = std::chrono::steady_clock;

  /// Called by `wait` after every ten seconds without an answer. An error ends the waiting: it becomes the
  /// text of a `Silent` answer.
  using Late = std::function<Result<void>()>;

  /// Connects to the daemon in `runtime_dir` (empty = the usual places) and sends `hello`, whose version is
  /// filled in. A failure is reported as the answer.
  DaemonRequest(const std::string& runtime_dir, Hello hello, std::chrono::milliseconds patience);
  /// The same over a connection that exists already.
  DaemonRequest(ControlSocket socket, Hello hello, std::chrono::milliseconds patience);

  /// To wait for together with others; -1 if the answer is known already.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  /// At this time `poll` returns `Silent` if the daemon has not answered.
  Clock::time_point deadline() const { return deadline_; }

  /// The answer, or nothing if it has not come yet.
  std::optional<DaemonAnswer> poll();

  DaemonAnswer wait(const Late& late = nullptr);

 private:
  void send(Hello hello, std::chrono::milliseconds patience);
  std::optional<DaemonAnswer> answer_in(const Result<Reply>& reply) const;

  Verb verb_;
  Clock::time_point deadline_;
  std::optional<ControlSocket> socket_;
  std::optional<DaemonAnswer> failure_;  // to connect or to send
};

/// Connects and asks nothing, on behalf of a program that wants to look: `Ok`, `NoDaemon` or `Unreachable`.
DaemonAnswer look_for_daemon(const std::string& runtime_dir);

/// Asks and waits.
DaemonAnswer ask_daemon(const std::string& runtime_dir, Hello hello,
                        std::chrono::milliseconds patience = kTellPatience,
                        const DaemonRequest::Late& late = nullptr);

}  // namespace corral::control
