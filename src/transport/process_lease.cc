#include "transport/process_lease.h"

#include <fcntl.h>

#include <utility>

namespace corral::transport {

LeaseState::Stage LeaseState::message_from(std::optional<std::uint64_t> identity) {
  if (stage_ == Stage::Unbound) return stage_;
  if (stage_ == Stage::New && identity) {
    identity_ = *identity;
    return stage_ = Stage::Seen;
  }
  return stage_ = identity && *identity == identity_ ? Stage::Bound : Stage::Unbound;
}

ProcessLease::ProcessLease(Loop& loop, OwnerFinder& finder, Task over, Clock::duration grace)
    : loop_(loop), finder_(finder), over_(std::move(over)), grace_(grace) {}

void ProcessLease::message_from(const http::Peer& peer) {
  if (state_.stage() == Stage::Unbound) return;
  const bool same = peer.inode != 0 && peer.inode == last_inode_ && peer.socket == last_socket_;
  if (same && state_.stage() == Stage::Bound) return;
  last_inode_ = peer.inode;
  last_socket_ = peer.socket;
  finder_.find(peer, lifetime_.guard([this](std::optional<Owner> sender) { found(std::move(sender)); }));
}

void ProcessLease::found(std::optional<Owner> sender) {
  const Stage before = state_.stage();
  const Stage now = state_.message_from(sender ? std::optional(sender->identity) : std::nullopt);
  if (now == Stage::Seen) owner_ = std::move(*sender);
  if (now == Stage::Bound && before != Stage::Bound) bind();
  if (now == Stage::Unbound) unbind();
}

void ProcessLease::bind_to(const Owner& owner) {
  state_.bind();
  owner_ = owner;
  bind();
}

void ProcessLease::bind() {
  UniqueFd copy(fcntl(owner_.life->get(), F_DUPFD_CLOEXEC, 0));  // a Watch needs its own descriptor
  if (!copy.valid()) {  // no descriptor left: treated as an unknown process
    state_.message_from(std::nullopt);
    return unbind();
  }
  death_ = std::make_unique<DeathWatch>(loop_, std::move(copy));
  death_->watch.when_readable([this] { process_has_ended(); });
}

void ProcessLease::process_has_ended() {
  death_->timer.start(grace_, [this] {
    if (const Task task = std::exchange(over_, nullptr)) task();
  });
}

void ProcessLease::unbind() {
  death_.reset();
  owner_ = {};
}

}  // namespace corral::transport
