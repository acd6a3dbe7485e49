#include "transport/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "transport/control_connection.h"

namespace corral::transport {
namespace {

constexpr std::size_t kMostConnections = 4096;
constexpr int kAcceptedAtOnce = 64;  // then others have their turn
constexpr std::chrono::milliseconds kBreath{100};

}  // namespace

struct UnixListener::Impl : std::enable_shared_from_this<UnixListener::Impl> {
  Impl(Loop& loop, UniqueFd listening, Reception& reception)
      : premises(std::make_shared<Premises>(Premises{loop, reception, control::surroundings_of(0), {}})),
        socket(std::move(listening)),
        watch(std::make_unique<Watch>(loop, socket.get())),
        pause(loop) {
    fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  }

  void wait() {
    watch->when_readable([self = weak_from_this()] {
      if (const auto listener = self.lock()) listener->accept_some();
    });
  }

  void accept_some() {
    for (int i = 0; i < kAcceptedAtOnce && socket.valid(); ++i) {
      UniqueFd peer(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (peer.valid()) {
        welcome(std::move(peer));
      } else if (errno == EAGAIN) {
        break;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return breathe();
      }
    }
    if (socket.valid()) wait();
  }

  /// Out of descriptors or memory. Who waits outside would wake us again at once.
  void breathe() {
    ++premises->counters.out_of_resources;
    pause.start(kBreath, [self = weak_from_this()] {
      const auto listener = self.lock();
      if (listener && listener->socket.valid()) listener->accept_some();
    });
  }

  void welcome(UniqueFd peer) {
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) {
      ++premises->counters.strangers;
      return;
    }
    if (connections.size() >= kMostConnections) return turn_away(peer.get());
    ++premises->counters.accepted;
    const auto connection = std::make_shared<ControlConnection>(
        premises, std::move(peer), who.pid,
        [self = weak_from_this()](const std::shared_ptr<ControlConnection>& finished) {
          if (const auto listener = self.lock()) listener->connections.erase(finished);
        });
    connections.insert(connection);
    connection->start();
  }

  /// What it wants is not known yet. If it is a server, its client need not suffer for our limit.
  void turn_away(int peer) {
    ++premises->counters.too_many;
    const std::string line = control::encode(control::Reply{
        control::Reply::Kind::RunIt,
        "the daemon has " + std::to_string(kMostConnections) + " connections, which is its limit: end some",
        0, 0, 0, ""});
    // Fits into the empty buffer of a new socket; if not, the end says enough.
    [[maybe_unused]] const ssize_t sent = send(peer, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  std::shared_ptr<Premises> premises;
  UniqueFd socket;
  std::unique_ptr<Watch> watch;
  Timer pause;
  std::set<std::shared_ptr<ControlConnection>> connections;
};

UnixListener::UnixListener(Loop& loop, UniqueFd socket, Reception& reception)
    : impl_(std::make_shared<Impl>(loop, std::move(socket), reception)) {
  impl_->wait();
}

UnixListener::~UnixListener() {
  close();
  for (const auto& connection : std::exchange(impl_->connections, {})) connection->abandon();
}

void UnixListener::close() {
  impl_->pause.cancel();
  impl_->watch.reset();
  impl_->socket.reset();
}

const ListenerCounters& UnixListener::counters() const { return impl_->premises->counters; }

}  // namespace corral::transport
