// The options of `corral serve` for clients that connect by URL, as far as they concern the process: the
// port, the address, the command.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "support/daemon_test.h"
#include "support/eventually.h"
#include "support/http_talk.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Somebody who listens at a port of this machine.
class PortOwner {
 public:
  PortOwner() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    listens_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(fd_, 8) == 0 &&
               getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    port_ = ntohs(address.sin_port);
  }
  ~PortOwner() { close(fd_); }
  PortOwner(const PortOwner&) = delete;
  PortOwner& operator=(const PortOwner&) = delete;

  bool listens() const { return listens_; }
  std::string port() const { return std::to_string(port_); }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool listens_ = false;
  std::uint16_t port_ = 0;
};

std::string command_line(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (char& letter : text) letter = letter == '\0' ? ' ' : letter;
  return text;
}

class ServePort : public DaemonTest {};

TEST_F(ServePort, NamesTheOwnerOfATakenPort) {
  const PortOwner owner;
  ASSERT_TRUE(owner.listens());
  Launch launch = serve({"--port", owner.port()});
  launch.uid.reset();  // one and the same user

  Serving serving(launch);

  EXPECT_EQ(serving.wait(), 1);
  EXPECT_THAT(errors(), AllOf(HasSubstr("port " + owner.port() + " is taken by process " +
                                        std::to_string(getpid()) + " ("),
                              HasSubstr("--port 0")));
}

TEST_F(ServePort, ATakenOneDoesNotStopADaemonThatAClientStarts) {
  const PortOwner owner;
  ASSERT_TRUE(owner.listens());
  std::ofstream(path("config.json")) << R"({"mcpServers":{},"corral":{"http":{"port":)" << owner.port()
                                     << "}}}";

  Serving serving(serve({"--auto", "--config", path("config.json")}));

  EXPECT_TRUE(ready()) << errors();
  EXPECT_TRUE(eventually([&] {
    return errors().find("HTTP clients cannot connect by TCP: port " + owner.port()) != std::string::npos;
  })) << errors();
}

TEST_F(ServePort, SaysThatATakenPortIsAnotherUsers) {
  if (!running_as_root()) GTEST_SKIP() << "only root can start a process of another user";
  const PortOwner owner;
  ASSERT_TRUE(owner.listens());

  Serving serving(serve({"--port", owner.port()}));

  EXPECT_EQ(serving.wait(), 1);
  EXPECT_THAT(errors(), HasSubstr("is taken by another user's process (user 0)"));
}

TEST_F(ServePort, IsNotOpenedToOtherMachinesWithoutAToken) {
  for (const char* address : {"0.0.0.0", "::"}) {
    Serving serving(serve({"--port", "0", "--bind", address}));
    EXPECT_EQ(serving.wait(), 1) << address;
  }
  EXPECT_THAT(errors(), HasSubstr("`corral token create NAME`"));
}

TEST_F(ServePort, AnswersRequestsForTheAddressThatItIsBoundTo) {
  Serving serving(serve({"--port", "0", "--bind", "127.0.0.2"}));
  ASSERT_TRUE(ready()) << errors();
  constexpr std::string_view kUrl = "http://127.0.0.2:";
  ASSERT_TRUE(eventually([&] { return errors().find(kUrl) != std::string::npos; })) << errors();
  const std::string said = errors();
  HttpTalk talk;
  talk.address = "127.0.0.2";
  talk.port = static_cast<std::uint16_t>(atoi(said.c_str() + said.find(kUrl) + kUrl.size()));

  const std::string answer = talk.ask("GET", "/healthz");

  EXPECT_EQ(status_of(answer), 200) << answer;
}

TEST_F(ServePort, SaysThatThisMachineDoesNotHaveTheAddress) {
  ASSERT_EQ(say("token", {"create", "somebody"}).code, 0);

  Serving serving(serve({"--port", "0", "--bind", "192.0.2.7"}));  // for documentation, RFC 5737

  EXPECT_EQ(serving.wait(), 1);
  EXPECT_THAT(errors(), HasSubstr("this machine has no such address: correct --bind"));
}

TEST_F(ServePort, KeepsTheCommandOffTheCommandLinesOfTheDaemon) {
  const Words started = say("serve", {"--background", "--port", "0", "--", "cat", "canary-" + tag()});
  ASSERT_EQ(started.code, 0) << started.err;

  // The directory's name holds the tag; the word before it does not.
  EXPECT_THAT(command_line(daemon()), AllOf(HasSubstr("--port 0 @command "), Not(HasSubstr("canary-"))));
  EXPECT_THAT(command_line(process_by_pid(daemon()).value().parent), Not(HasSubstr("canary-")));

  EXPECT_EQ(say("shutdown").code, 0);
  EXPECT_TRUE(all_gone());
}

TEST_F(ServePort, IsNotOpenedForACommandThatCannotRun) {
  const Words unknown = say("serve", {"--port", "0", "--", "no-such-command"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("'no-such-command' was not found"));

  const Words configured = say("serve", {"--config", "x.json", "--", "cat"});
  EXPECT_EQ(configured.code, 1);
  EXPECT_THAT(configured.err, HasSubstr("omit --config"));

  const Words unmarked = say("serve", {"cat"});
  EXPECT_EQ(unmarked.code, 125);
  EXPECT_THAT(unmarked.err, HasSubstr("after `--`"));
}

}  // namespace
}  // namespace corral::os_tests
