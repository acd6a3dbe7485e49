#include "transport/unix_listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <utility>

#include "base/acceptor.h"
#include "transport/control_connection.h"

namespace corral::transport {
namespace {

constexpr std::size_t kMostConnections = 4096;

}  // namespace

struct UnixListener::Impl : std::enable_shared_from_this<UnixListener::Impl> {
  Impl(Loop& loop, SessionOpener& opener)
      : context(std::make_shared<ListenerContext>(
            ListenerContext{loop, opener, control::surroundings_of(0), {}})) {}

  void begin(UniqueFd socket) {
    acceptor.emplace(
        context->loop, std::move(socket),
        [self = weak_from_this()](UniqueFd peer) {
          if (const auto listener = self.lock()) listener->admit(std::move(peer));
        },
        [context = context] { ++context->counters.out_of_resources; });
  }

  void admit(UniqueFd peer) {
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) {
      ++context->counters.strangers;
      return;
    }
    if (connections.size() >= kMostConnections) return turn_away(peer.get());
    ++context->counters.accepted;
    const auto connection = std::make_shared<ControlConnection>(
        context, std::move(peer), who.pid,
        [self = weak_from_this()](const std::shared_ptr<ControlConnection>& finished) {
          if (const auto listener = self.lock()) listener->connections.erase(finished);
        });
    connections.insert(connection);
    connection->start();
  }

  /// Its request is not known yet. If it wants a server, its client can still run it without the daemon.
  void turn_away(int peer) {
    ++context->counters.too_many;
    const std::string line =
        control::encode(control::Reply{control::Reply::Kind::RunIt,
                                       "the daemon has " + std::to_string(kMostConnections) +
                                           " connections, which is its limit: end some sessions",
                                       0, 0, 0, ""});
    // Fits into the empty buffer of a new socket; if not, closing the connection is enough.
    [[maybe_unused]] const ssize_t sent = send(peer, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  std::shared_ptr<ListenerContext> context;
  std::optional<Acceptor> acceptor;
  std::set<std::shared_ptr<ControlConnection>> connections;
};

UnixListener::UnixListener(Loop& loop, UniqueFd socket, SessionOpener& opener)
    : impl_(std::make_shared<Impl>(loop, opener)) {
  impl_->begin(std::move(socket));
}

UnixListener::~UnixListener() {
  close();
  for (const auto& connection : std::exchange(impl_->connections, {})) connection->abandon();
}

void UnixListener::close() { impl_->acceptor->close(); }

const ListenerCounters& UnixListener::counters() const { return impl_->context->counters; }

}  // namespace corral::transport
