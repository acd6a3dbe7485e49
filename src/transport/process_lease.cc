#include "transport/process_lease.h"

#include <fcntl.h>

#include <utility>

#include "transport/lease_state.h"

namespace corral::transport {

struct ProcessLease::Impl : std::enable_shared_from_this<ProcessLease::Impl> {
  Impl(Loop& the_loop, OwnerFinder& the_finder, Task when_over, Clock::duration moment)
      : loop(the_loop), finder(the_finder), over(std::move(when_over)), grace(moment) {}

  using Stage = LeaseState::Stage;

  /// Needed only while a session is bound.
  struct DeathWatch {
    DeathWatch(Loop& on, UniqueFd pidfd) : life(std::move(pidfd)), watch(on, life.get()), timer(on) {}

    UniqueFd life;  // our own copy
    Watch watch;
    Timer timer;
  };

  void message_from(const http::Peer& peer) {
    if (state.stage() == Stage::Unbound) return;
    const bool same = peer.inode != 0 && peer.inode == last_inode && peer.door == last_door;
    if (same && state.stage() == Stage::Bound) return;
    last_inode = peer.inode;
    last_door = peer.door;
    finder.find(peer, [weak = weak_from_this()](std::optional<Owner> who) {
      if (const auto impl = weak.lock()) impl->found(std::move(who));
    });
  }

  void found(std::optional<Owner> who) {
    const Stage before = state.stage();
    const Stage now = state.message_from(who ? std::optional(who->identity) : std::nullopt);
    if (now == Stage::Seen) owner = std::move(*who);
    if (now == Stage::Bound && before != Stage::Bound) bind();
    if (now == Stage::Unbound) unbind();
  }

  void bind() {
    UniqueFd copy(fcntl(owner.life->get(), F_DUPFD_CLOEXEC, 0));
    if (!copy.valid()) {  // no descriptor left: treated as an unknown process
      state.message_from(std::nullopt);
      return unbind();
    }
    death = std::make_unique<DeathWatch>(loop, std::move(copy));
    death->watch.when_readable([weak = weak_from_this()] {
      if (const auto impl = weak.lock()) impl->process_has_ended();
    });
  }

  void process_has_ended() {
    death->timer.start(grace, [weak = weak_from_this()] {
      const auto impl = weak.lock();
      if (!impl) return;
      if (const Task task = std::exchange(impl->over, nullptr)) task();
    });
  }

  void unbind() {
    death.reset();
    owner = {};
  }

  Loop& loop;
  OwnerFinder& finder;
  Task over;
  const Clock::duration grace;
  LeaseState state;
  http::Peer::Door last_door = http::Peer::Door::Tcp;
  std::uint64_t last_inode = 0;
  Owner owner;
  std::unique_ptr<DeathWatch> death;
};

ProcessLease::ProcessLease(Loop& loop, OwnerFinder& finder, Task over, Clock::duration grace)
    : impl_(std::make_shared<Impl>(loop, finder, std::move(over), grace)) {}

ProcessLease::~ProcessLease() = default;

void ProcessLease::message_from(const http::Peer& peer) { impl_->message_from(peer); }

pid_t ProcessLease::bound_to() const {
  return impl_->state.stage() == LeaseState::Stage::Bound ? impl_->owner.pid : 0;
}

}  // namespace corral::transport
