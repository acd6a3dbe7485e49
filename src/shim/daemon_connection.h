// The shim's connection to the daemon for one session, from the hello to the exit code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/control_socket.h"
#include "run/client_watch.h"
#include "shim/copier.h"
#include "shim/error_output.h"
#include "shim/signals.h"

namespace corral::shim {

/// Used on one thread. `signals` and `errors` must outlive it.
class DaemonConnection {
 public:
  enum class Notes : std::uint8_t { Off, OnStderr };  // what only --verbose says

  DaemonConnection(control::ControlSocket socket, ShimSignals& signals, StderrWriter& errors, Notes notes);

  using Time = std::chrono::steady_clock::time_point;

  /// Blocks until the session is over and returns the exit code. An error means that the daemon did not
  /// accept the session by `until`: nothing was read from the client, so the caller can serve it another way.
  /// With Error::Kind::NotFound that daemon is leaving, and another one can be tried.
  Result<int> run(control::Hello hello, Time until);

 private:
  Result<void> introduce(control::Hello hello);
  Result<int> passable(int fd);
  void wait();
  void hear();
  void handle(const control::Reply& reply);
  void begin_session(const control::Reply& reply);
  void lose_daemon();
  void refuse(const control::Reply& reply);
  void check_deadline();
  void end(int code);
  void go_without(std::string why, Error::Kind kind = Error::Kind::Failure);
  int milliseconds_left() const;
  void set_deadline(std::chrono::milliseconds after);
  void note(const std::string& sentence);

  control::ControlSocket socket_;
  ShimSignals& signals_;
  StderrWriter& errors_;
  const Notes notes_;
  run::ClientWatch client_;
  std::vector<UniqueFd>
      handed_over_;  // the daemon's ends of the pipes that we copy for, until it has received them
  Copier input_;
  Copier output_;
  bool quiet_ = false;  // the client prints what it gets as an answer
  bool accepted_ = false;
  bool connected_ = true;
  bool leaving_ = false;
  std::optional<Time> deadline_;
  std::optional<int> code_;  // set at the end; copying may still be under way
  std::optional<Error> without_daemon_;
};

}  // namespace corral::shim
