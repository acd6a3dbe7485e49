#include "http/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/acceptor.h"
#include "http/connection.h"
#include "http/connection_quota.h"
#include "http/peer.h"

namespace corral::http {
namespace {

// A client whose machine or network is gone is noticed after about two minutes.
constexpr int kKeepAliveIdle = 60;
constexpr int kKeepAliveInterval = 15;
constexpr int kKeepAliveProbes = 4;

void set_option(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);  // optional: the connection works without it
}

void prepare_tcp(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdle);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveInterval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
}

}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Listener::Impl> {
  Impl(Loop& loop, const Limits& limits, Handler handler, Gate gate)
      : shared(std::make_shared<ListenerState>(
            ListenerState{loop, limits, std::move(handler), std::move(gate), nullptr, {}, 0, 0, {}})),
        quota(limits.connections, limits.connections_per_peer) {}

  void begin(UniqueFd socket) {
    int domain = AF_INET;
    socklen_t size = sizeof domain;
    getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size);
    local = domain == AF_UNIX;
    shared->left = [self = weak_from_this()](const std::shared_ptr<Connection>& connection) {
      if (const auto listener = self.lock()) listener->left(connection);
    };
    acceptor.emplace(shared->loop, std::move(socket), [self = weak_from_this()](UniqueFd client) {
      if (const auto listener = self.lock()) listener->admit(std::move(client));
    });
  }

  void admit(UniqueFd client) {
    if (quota.full()) return refuse(client.get());
    // Before a byte is read: what a process sent before it exited must not count as sent by a living one.
    Peer peer = local ? peer_of_unix(client.get()) : peer_of_tcp(client.get());
    if (!quota.admit(peer)) return refuse(client.get());
    if (!local) prepare_tcp(client.get());
    ++shared->counters.accepted;
    const auto connection = std::make_shared<Connection>(shared, std::move(client), std::move(peer));
    connections.insert(connection);
    connection->start();
  }

  void left(const std::shared_ptr<Connection>& connection) {
    if (connections.erase(connection) == 1) quota.release(connection->peer());
  }

  /// The answer fits into the empty buffer of a new socket; if not, the client only sees the end. What has
  /// arrived is read, because closing a socket with unread bytes would discard the answer.
  void refuse(int client) {
    ++shared->counters.refused;
    Response response = error_response(
        503, "there are too many connections: close some that are not needed, or try again later");
    response.headers.push_back({"Retry-After", "5"});
    const std::string text =
        response_head(response.status, response.headers, {Framing::Kind::Length, response.body.size()},
                      Afterwards::Closes) +
        response.body;
    [[maybe_unused]] const ssize_t sent = send(client, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(client, SHUT_WR);
    [[maybe_unused]] const ssize_t got =
        recv(client, shared->scratch.data(), shared->scratch.size(), MSG_DONTWAIT);
  }

  std::shared_ptr<ListenerState> shared;
  std::optional<Acceptor> acceptor;
  bool local = false;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  ConnectionQuota quota;
};

Listener::Listener(Loop& loop, UniqueFd socket, Limits limits, Handler handler, Gate gate)
    : impl_(std::make_shared<Impl>(loop, limits, std::move(handler), std::move(gate))) {
  impl_->begin(std::move(socket));
}

Listener::~Listener() {
  impl_->acceptor->close();
  for (const auto& connection : std::exchange(impl_->connections, {})) connection->abandon();
}

void Listener::close() {
  impl_->acceptor->close();
  const auto here = impl_->connections;
  for (const auto& connection : here) connection->close_when_done();
}

std::size_t Listener::connections() const { return impl_->connections.size(); }

const ListenerCounters& Listener::counters() const { return impl_->shared->counters; }

}  // namespace corral::http
