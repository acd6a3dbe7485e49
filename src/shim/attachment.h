// One session as the shim sees it: from the hello to the exit code.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/channel.h"
#include "run/client_watch.h"
#include "shim/copier.h"
#include "shim/error_output.h"
#include "shim/signals.h"

namespace corral::shim {

class Attachment {
 public:
  Attachment(control::Channel channel, Signals& signals, ErrorOutput& errors, bool verbose);

  using Time = std::chrono::steady_clock::time_point;

  /// The exit code; an error = the daemon did not take the session by `until`, nothing was read from the
  /// client, and somebody else can serve it. Error::Kind::NotFound: that daemon left, another can be had.
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

  control::Channel channel_;
  Signals& signals_;
  ErrorOutput& errors_;
  const bool verbose_;
  run::ClientWatch client_;
  std::vector<UniqueFd> handed_over_;  // the daemon's ends of pipes that we copy for, until it has them
  Copier input_;
  Copier output_;
  int protocol_ = control::kProtocol;  // that our hello speaks
  bool accepted_ = false;
  bool connected_ = true;
  bool leaving_ = false;
  std::optional<Time> deadline_;
  std::optional<int> code_;  // the end has come; what is copied may still flow
  std::optional<Error> without_daemon_;
};

}  // namespace corral::shim
