// What the daemon does with those who come in by its socket. The listener and its connections live here, in
// client/; app/ implements the reception and owns what comes of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "control/hello.h"

namespace corral::transport {

/// A shim that wants a server.
struct Arrival {
  control::Hello hello;
  UniqueFd input;  // the client's pipes
  UniqueFd output;
  UniqueFd client;  // a pidfd of the program above the shim; invalid if it could not be had
  pid_t shim = 0;
  std::string confinement;  // in what the shim is more confined than we are; empty = in nothing
};

/// The line back to a shim. Everything is buffered and bounded; what a full buffer cannot take of stderr is
/// dropped and counted.
class ShimLine {
 public:
  virtual ~ShimLine() = default;

  virtual void accept() = 0;
  virtual void refuse(const std::string& why, int exit_code) = 0;  // and closes
  virtual void run_it(const std::string& why) = 0;                 // and closes
  virtual void note(const std::string& sentence) = 0;
  virtual void error_output(std::string_view bytes) = 0;
  virtual void exit(int code, const std::string& why) = 0;  // and closes once it is written
  /// Called once, when the shim is gone or its line broke; not after we closed it.
  virtual void when_gone(std::function<void()> task) = 0;
};

/// Everything else that can be asked of the daemon.
struct Question {
  control::Hello hello;
  pid_t peer = 0;
  std::string confinement;  // of the peer, for `SessionCreate` alone; empty = none
};

/// Takes the one reply to a question, at once or later. Whoever asked may be gone by then.
using Answer = std::function<void(const control::Reply&)>;

class Reception {
 public:
  virtual ~Reception() = default;

  virtual void arrived(Arrival arrival, std::shared_ptr<ShimLine> line) = 0;
  virtual void asked(Question question, Answer answer) = 0;
};

}  // namespace corral::transport
