#include "transport/owner_finder.h"

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/socket_holders.h"
#include "transport/socket_walker.h"

namespace corral::transport {
namespace {

constexpr std::size_t kMostRemembered = 4096;

}  // namespace

struct OwnerFinder::Impl : std::enable_shared_from_this<OwnerFinder::Impl> {
  explicit Impl(Loop& given) : loop(given) {}

  struct Known {
    pid_t pid = 0;
    int fd = -1;  // the descriptor that holds the socket
    std::uint64_t identity = 0;
    std::shared_ptr<const UniqueFd> life;
  };

  /// Valid until a process that did not hold the socket before holds it.
  std::optional<Owner> remembered(std::uint64_t inode) {
    const auto entry = known.find(inode);
    if (entry == known.end()) return std::nullopt;
    const Known& it = entry->second;
    // In this order: a fact about the pid is a fact about the process only if the process has not exited
    // since.
    if (holds_socket(it.pid, it.fd, inode) && !has_ended(it.life->get())) {
      return Owner{it.pid, it.identity, it.life};
    }
    known.erase(entry);
    return std::nullopt;
  }

  void ask(std::uint64_t inode, Found found) {
    std::vector<Found>& others = waiting[inode];
    others.push_back(std::move(found));
    if (others.size() > 1) return;
    if (!walker) {
      walker = std::make_unique<SocketWalker>(
          [&to = loop, weak = weak_from_this()](std::vector<std::uint64_t> asked, Holders holders) {
            // A task must be copyable, and a holder is not.
            auto shared = std::make_shared<Holders>(std::move(holders));
            to.post([weak, asked = std::move(asked), shared] {
              if (const auto impl = weak.lock()) impl->walked(asked, *shared);
            });
          });
    }
    if (!walker->look_for(inode)) answer(inode, std::nullopt);
  }

  void walked(const std::vector<std::uint64_t>& asked, Holders& holders) {
    forget_the_dead();
    for (const std::uint64_t inode : asked) {
      if (stopped) return;
      const auto holder = holders.find(inode);
      answer(inode, holder == holders.end() ? std::nullopt : std::optional(remember(inode, holder->second)));
    }
  }

  void answer(std::uint64_t inode, const std::optional<Owner>& owner) {
    const auto entry = waiting.find(inode);
    if (entry == waiting.end()) return;
    const std::vector<Found> all = std::move(entry->second);
    waiting.erase(entry);
    for (const Found& found : all) {
      if (stopped) return;
      found(owner);
    }
  }

  Owner remember(std::uint64_t inode, Holder& holder) {
    make_room();
    Owner owner{holder.pid, holder.identity, shared_life(holder)};
    if (known.insert_or_assign(inode, Known{owner.pid, holder.fd, owner.identity, owner.life}).second) {
      order.push_back(inode);
    }
    return owner;
  }

  /// One pidfd for all connections of a process.
  std::shared_ptr<const UniqueFd> shared_life(Holder& holder) {
    for (const auto& [inode, other] : known) {
      if (other.identity == holder.identity) return other.life;
    }
    return std::make_shared<const UniqueFd>(std::move(holder.life));
  }

  /// Keeps only descriptors of processes that are alive or have just exited.
  void forget_the_dead() {
    std::unordered_map<const UniqueFd*, bool> ended;  // each process is checked once
    std::erase_if(known, [&ended](const auto& entry) {
      const UniqueFd* const life = entry.second.life.get();
      const auto [place, is_new] = ended.try_emplace(life, false);
      if (is_new) place->second = has_ended(life->get());
      return place->second;
    });
    std::erase_if(order, [this](std::uint64_t inode) { return !known.contains(inode); });
  }

  void make_room() {
    while (order.size() >= kMostRemembered) {
      known.erase(order.front());
      order.pop_front();
    }
  }

  Loop& loop;
  std::unordered_map<std::uint64_t, Known> known;  // by the inode of the socket
  std::deque<std::uint64_t> order;                 // in order of arrival; may contain forgotten ones
  std::unordered_map<std::uint64_t, std::vector<Found>> waiting;
  bool stopped = false;
  std::unique_ptr<SocketWalker> walker;  // last member, so that its thread ends before the rest is destroyed
};

OwnerFinder::OwnerFinder(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}

OwnerFinder::~OwnerFinder() {
  impl_->stopped = true;
  impl_->walker.reset();
  impl_->waiting.clear();
}

void OwnerFinder::find(const http::Peer& peer, Found found) {
  const std::shared_ptr<Impl> impl = impl_;  // the callback may destroy the finder
  if (!peer.ours) return found(std::nullopt);
  if (peer.socket == http::Peer::Socket::Unix) {
    std::optional<Holder> holder = pin_process(peer.pid);
    // The pid may have been reused since the connection was made; before Linux 6.9 this cannot be detected.
    if (!holder || (peer.inode != 0 && peer.inode != holder->identity)) return found(std::nullopt);
    return found(
        Owner{holder->pid, holder->identity, std::make_shared<const UniqueFd>(std::move(holder->life))});
  }
  if (peer.inode == 0) return found(std::nullopt);
  if (std::optional<Owner> owner = impl->remembered(peer.inode)) return found(std::move(owner));
  impl->ask(peer.inode, std::move(found));
}

}  // namespace corral::transport
