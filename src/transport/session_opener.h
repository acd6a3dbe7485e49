// What the daemon's socket asks of the daemon: a session for a shim, or an answer to a question. The listener
// and its connections are in transport/; daemon/ implements this and owns the sessions.
//
// `HttpSessionOpener` is the same for HTTP. They are two interfaces because no caller uses both: a shim
// brings descriptors and waits for a verdict on its line, an HTTP client brings a principal and owns its
// session.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "control/hello.h"

namespace corral::transport {

/// A shim that requests a server.
struct Arrival {
  control::Hello hello;
  UniqueFd input;  // the client's pipes
  UniqueFd output;
  UniqueFd client;  // a pidfd of the program that started the shim; invalid if there is none
  pid_t shim = 0;
  std::string confinement;  // how the shim is more confined than the daemon; empty = it is not
};

/// The line back to a shim. Everything is buffered and bounded; bytes of stderr that exceed the limit are
/// dropped and counted. Calls after one that closes have no effect. None of these methods calls back before
/// it returns.
class ShimLine {
 public:
  virtual ~ShimLine() = default;

  /// Once more when the session goes on although the client's process has exited: the shim would leave.
  virtual void accept() = 0;
  virtual void refuse(const std::string& why, int exit_code) = 0;  // and closes
  virtual void run_it(const std::string& why) = 0;                 // and closes
  virtual void note(const std::string& sentence) = 0;
  virtual void error_output(std::string_view bytes) = 0;
  virtual void exit(int code, const std::string& why) = 0;  // and closes once it is written
  /// `task` is called once, from the loop, when the shim is gone or its connection broke; not after we closed
  /// it. Null cancels it.
  virtual void when_gone(std::function<void()> task) = 0;
};

/// Any other request to the daemon.
struct Question {
  control::Hello hello;
  pid_t peer = 0;
  std::string confinement;  // of the peer, for `SessionCreate` only; empty = none
};

/// Receives the only reply to a question, at once or later. The peer may be gone by then.
using Answer = std::function<void(const control::Reply&)>;

class SessionOpener {
 public:
  virtual ~SessionOpener() = default;

  /// Exactly one of `accept`, `refuse` and `run_it` is called on the line, before this returns. An accepted
  /// session holds the line until it is over.
  virtual void open(Arrival arrival, std::shared_ptr<ShimLine> line) = 0;
  /// `answer` is called once.
  virtual void answer(Question question, Answer answer) = 0;
};

}  // namespace corral::transport
