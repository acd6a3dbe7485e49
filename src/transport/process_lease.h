// Ends a session with the process that uses it.
//
// A legacy session is bound by its messages: at the second message from the same process, and never again
// after messages from two. A modern session is opened for a process that is known already, and bound at once.
// When that process exits, the session ends after a short grace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/lifetime.h"
#include "transport/owner_finder.h"

namespace corral::transport {

/// Whether a session belongs to one process, according to its messages. Pure.
class LeaseState {
 public:
  enum class Stage : std::uint8_t {
    New,      // no message yet
    Seen,     // one; it could still be a new process for each message
    Bound,    // two or more, all from the same process
    Unbound,  // from several processes, or from an unknown one; permanent
  };

  /// Records a message; empty = the sender is unknown.
  Stage message_from(std::optional<std::uint64_t> identity);
  /// The process is known without a message.
  void bind() { stage_ = Stage::Bound; }
  Stage stage() const { return stage_; }

 private:
  std::uint64_t identity_ = 0;
  Stage stage_ = Stage::New;
};

/// Must be used on the loop's thread.
class ProcessLease {
 public:
  /// Messages that are in flight when a process exits have arrived after this time, and a client may hand
  /// over its work before it exits.
  static constexpr Clock::duration kGrace = std::chrono::seconds(1);

  /// `over` is called once, from the loop, when the process is gone; never after the lease is destroyed. It
  /// may destroy the lease. `loop` and `finder` must outlive the lease.
  ProcessLease(Loop& loop, OwnerFinder& finder, Task over, Clock::duration grace = kGrace);
  ProcessLease(const ProcessLease&) = delete;

  /// Records a message of a legacy session. Costs nothing for a session that is bound already, if the message
  /// came on the same connection as the last one.
  void message_from(const http::Peer& peer);
  /// Binds a modern session. If no descriptor is left, the session remains unbound.
  void bind_to(const Owner& owner);
  /// The process if the session is bound; otherwise 0.
  pid_t bound_to() const { return state_.stage() == Stage::Bound ? owner_.pid : 0; }

 private:
  using Stage = LeaseState::Stage;

  /// Needed only while a session is bound.
  struct DeathWatch {
    DeathWatch(Loop& on, UniqueFd pidfd) : life(std::move(pidfd)), watch(on, life.get()), timer(on) {}

    UniqueFd life;  // its own copy
    Watch watch;
    Timer timer;
  };

  void found(std::optional<Owner> sender);
  void bind();
  void unbind();
  void process_has_ended();

  Loop& loop_;
  OwnerFinder& finder_;
  Task over_;
  const Clock::duration grace_;
  LeaseState state_;
  http::Peer::Socket last_socket_ = http::Peer::Socket::Tcp;
  std::uint64_t last_inode_ = 0;
  Owner owner_;
  std::unique_ptr<DeathWatch> death_;
  Lifetime lifetime_;
};

}  // namespace corral::transport
