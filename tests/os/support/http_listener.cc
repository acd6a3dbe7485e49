#include "support/http_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/eventually.h"

namespace corral::os_tests {

void HttpListenerTest::open(const http::Limits& limits, http::Gate gate) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  listen_at(std::move(socket), limits, std::move(gate));
}

void HttpListenerTest::open_unix(const http::Limits& limits) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path("http.sock").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  listen_at(std::move(socket), limits, nullptr);
}

void HttpListenerTest::listen_at(UniqueFd socket, const http::Limits& limits, http::Gate gate) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(listen(socket.get(), 64), 0);
  ASSERT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  address_.assign(reinterpret_cast<const char*>(&address), size);
  listener_.emplace(
      loop_, std::move(socket), limits,
      [this](http::Request request, std::shared_ptr<http::Exchange> exchange) {
        handle(std::move(request), std::move(exchange));
      },
      std::move(gate));
}

void HttpListenerTest::handle(http::Request request, std::shared_ptr<http::Exchange> exchange) {
  if (request.path != "/echo") return held_.push_back({std::move(request), std::move(exchange)});
  http::Response response;
  response.large_body = request.body;
  exchange->reply(std::move(response));
}

HttpListenerTest::Client HttpListenerTest::connect() const {
  sockaddr_storage address{};
  memcpy(&address, address_.data(), address_.size());
  Client client{UniqueFd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)), "", false};
  EXPECT_EQ(::connect(client.socket.get(), reinterpret_cast<const sockaddr*>(&address),
                      static_cast<socklen_t>(address_.size())),
            0);
  fcntl(client.socket.get(), F_SETFL, O_NONBLOCK);
  return client;
}

void HttpListenerTest::send(Client& client, std::string_view text) {
  EXPECT_TRUE(eventually([&] {
    const ssize_t sent = ::send(client.socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    turn();
    return text.empty() || (sent < 0 && errno != EAGAIN);
  }));
}

/// All that is there, and what takes its place then.
void HttpListenerTest::read_some(Client& client) {
  std::array<char, 65536> bytes;
  for (;;) {
    turn();
    const ssize_t got = recv(client.socket.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) client.got.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN)) client.over = true;
    if (got <= 0) return;
  }
}

std::string HttpListenerTest::read_to(Client& client, std::string_view text) {
  std::size_t end = std::string::npos;
  const bool found = eventually([&] {
    read_some(client);
    end = client.got.find(text);
    return end != std::string::npos || client.over;
  });
  if (!found || end == std::string::npos) return "";
  std::string taken = client.got.substr(0, end + text.size());
  client.got.erase(0, taken.size());
  return taken;
}

std::string HttpListenerTest::rest_of(Client& client) {
  EXPECT_TRUE(eventually([&] {
    read_some(client);
    return client.over;
  })) << client.got;
  return std::exchange(client.got, {});
}

bool HttpListenerTest::holds(std::size_t count) {
  return eventually([&] {
    turn();
    return held_.size() == count;
  });
}

}  // namespace corral::os_tests
