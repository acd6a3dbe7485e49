// Binds a session to the process that uses its connections: at the second message from the same process, and
// never again after messages from two. When that process exits, the session ends after a short grace.
#pragma once

#include <memory>

#include "transport/owner_finder.h"

namespace corral::transport {

class ProcessLease {
 public:
  /// Messages that are in flight when a process exits have arrived after this time.
  static constexpr Clock::duration kGrace = std::chrono::seconds(1);

  /// `over` is called once, when the process is gone; never after the lease is destroyed. It may destroy the
  /// lease.
  ProcessLease(Loop& loop, OwnerFinder& finder, Task over, Clock::duration grace = kGrace);
  ~ProcessLease();
  ProcessLease(const ProcessLease&) = delete;

  /// Costs nothing for a session that is bound already, if the message came on the same connection as the
  /// last one.
  void message_from(const http::Peer& peer);
  /// The process if the session is bound; otherwise 0.
  pid_t bound_to() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
