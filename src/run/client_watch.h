// Watches the process that started us, through a pidfd: its death ends the session.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::run {

class ClientWatch {
 public:
  /// An error if the client is gone already and nothing else could ever end the session.
  static Result<ClientWatch> start();

  ClientWatch() = default;

  /// Readable once the client is dead; -1 = nobody is watched.
  int fd() const { return pidfd_.get(); }
  void stop() { pidfd_.reset(); }

 private:
  UniqueFd pidfd_;
};

}  // namespace corral::run
