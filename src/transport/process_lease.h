// Binds a session to the process behind its connections: at its second message from the same process; never
// again after messages of two. The end of that process, and a moment more, is the end of the session.
#pragma once

#include <memory>

#include "transport/owner_finder.h"

namespace corral::transport {

class ProcessLease {
 public:
  /// What may still be on its way when a process ends has arrived by then.
  static constexpr Clock::duration kGrace = std::chrono::seconds(1);

  /// `over` is called once, when the process is gone; not after the lease is.
  ProcessLease(Loop& loop, OwnerFinder& finder, Task over, Clock::duration grace = kGrace);
  ~ProcessLease();
  ProcessLease(const ProcessLease&) = delete;

  /// Costs nothing for a session that is bound already, on the connection that its last message came by.
  void message_from(const http::Peer& peer);
  /// The process, if it is bound; else 0.
  pid_t bound_to() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
