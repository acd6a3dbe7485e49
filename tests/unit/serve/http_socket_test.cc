#include "serve/http_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace corral::serve {
namespace {

using testing::HasSubstr;

UniqueFd local_socket() { return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

TEST(HttpSocket, ListensAtAFreePortIfAnyWillDo) {
  const auto listening = listen_on("127.0.0.1", 0, Reach::ThisMachine);
  ASSERT_TRUE(listening) << listening.error().message;
  const std::uint16_t port = port_of(listening->get());
  EXPECT_NE(port, 0);
  EXPECT_EQ(host_of(listening->get()), "127.0.0.1");
  EXPECT_EQ(url_of(listening->get()), "http://127.0.0.1:" + std::to_string(port));
  int listens = 0;
  socklen_t size = sizeof listens;
  ASSERT_EQ(getsockopt(listening->get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size), 0);
  EXPECT_EQ(listens, 1);
}

TEST(HttpSocket, NamesTheProcessThatHasATakenPort) {
  const auto listening = listen_on("127.0.0.1", 0, Reach::ThisMachine);
  ASSERT_TRUE(listening);
  const std::uint16_t port = port_of(listening->get());
  const auto second = listen_on("127.0.0.1", port, Reach::ThisMachine);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("port " + std::to_string(port) + " is taken by process " +
                                                std::to_string(getpid()) + " ("));
  EXPECT_THAT(second.error().message,
              HasSubstr("; choose another with --port, or any free one with --port 0"));
}

TEST(HttpSocket, OfAServiceManagerObeysLocks) {
  const auto listening = listen_on("127.0.0.1", 0, Reach::ThisMachine);
  ASSERT_TRUE(listening);
  config::Configuration configuration;
  EXPECT_TRUE(check_locks(listening->get(), configuration)) << "nothing is locked";
  configuration.locks["http.port"] = {"/etc/corral/config.json", 4};

  const Result<void> without_port = check_locks(listening->get(), configuration);
  configuration.options.http.port = port_of(listening->get());
  const Result<void> same_port = check_locks(listening->get(), configuration);
  configuration.locks["http"] = {"/etc/corral/config.json", 5};
  configuration.options.http.bind = "127.0.0.2";
  const Result<void> other_address = check_locks(listening->get(), configuration);

  ASSERT_FALSE(without_port);
  EXPECT_THAT(without_port.error().message, HasSubstr("/etc/corral/config.json:4 locks \"http.port\""));
  EXPECT_TRUE(same_port);
  ASSERT_FALSE(other_address);
  EXPECT_THAT(other_address.error().message, HasSubstr("locks \"http.bind\""));
}

TEST(HttpSocket, IsOpenToOtherMachinesOnlyIfTheyAreAskedForAToken) {
  const auto refused = listen_on("0.0.0.0", 0, Reach::ThisMachine);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("other machines could reach 0.0.0.0"));
  const auto listening = listen_on("0.0.0.0", 0, Reach::Anywhere);
  ASSERT_TRUE(listening) << listening.error().message;
  EXPECT_EQ(host_of(listening->get()), "127.0.0.1") << "how this machine gets there";
  EXPECT_FALSE(check_reach(listening->get(), Reach::ThisMachine));
  EXPECT_TRUE(check_reach(listening->get(), Reach::Anywhere));
}

TEST(HttpSocket, NeedsAnAddressOfThisMachine) {
  EXPECT_EQ(listen_on("local host\n", 0, Reach::Anywhere).error().message.find("'local host"), 0U);
  const auto elsewhere = listen_on("192.0.2.1", 0, Reach::Anywhere);  // an address for documentation
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message,
            "cannot listen at 192.0.2.1:0: Cannot assign requested address; this machine has no such "
            "address: correct --bind");
}

TEST(HttpSocket, IsWhatOptionsAndConfigurationWant) {
  ServeOptions options;
  config::Http http;
  const auto none = open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->valid());

  http.port = 0;
  EXPECT_TRUE(open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine)->valid());
  http.bind = "127.0.0.2";
  EXPECT_EQ(host_of(open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine)->get()), "127.0.0.2");
  options.bind = "127.0.0.3";
  EXPECT_EQ(host_of(open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine)->get()), "127.0.0.3");
  http.port.reset();
  EXPECT_EQ(open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine).error().message,
            "--bind needs a port to listen on: add --port 8765");
  options.port = 0;
  EXPECT_TRUE(open_tcp_socket(options, http, UniqueFd(), Reach::ThisMachine)->valid());
}

TEST(HttpSocket, IsTheOneThatWasPassed) {
  auto passed = listen_on("127.0.0.1", 0, Reach::ThisMachine);
  ASSERT_TRUE(passed);
  const int number = passed->get();
  ServeOptions options;
  options.port = 0;
  const auto listening = open_tcp_socket(options, {}, std::move(*passed), Reach::ThisMachine);
  ASSERT_TRUE(listening);
  EXPECT_EQ(listening->get(), number);
  EXPECT_FALSE(open_tcp_socket(options, {}, local_socket(), Reach::ThisMachine));
}

TEST(HttpSocket, IsNotALocalSocket) {
  const UniqueFd local = local_socket();
  EXPECT_EQ(check_reach(local.get(), Reach::Anywhere).error().message,
            "the socket that the service manager passed is not a TCP socket: correct ListenStream=");
  EXPECT_EQ(port_of(local.get()), 0);
  EXPECT_EQ(url_of(local.get()), "");
  EXPECT_EQ(host_of(local.get()), "127.0.0.1");
}

}  // namespace
}  // namespace corral::serve
