// Watches the process that started us through a pidfd: its death ends the session.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::run {

class ClientWatch {
 public:
  /// Fails if the client is already gone and nothing else could ever end the session.
  static Result<ClientWatch> start();

  ClientWatch() = default;

  /// Readable once the client is dead; -1 = no process is watched.
  int fd() const { return pidfd_.get(); }
  void stop() { pidfd_.reset(); }

 private:
  UniqueFd pidfd_;
};

}  // namespace corral::run
