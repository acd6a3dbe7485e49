// What a token may choose and use of the daemon, and what stays for the user in any case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/eventually.h"
#include "support/http_talk.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";

class HubShares : public HubTest {
 protected:
  void begin(const std::string& options) {
    set_options(R"("drain":"200ms","http":{"port":0})" + options);
    start_daemon();
  }

  HttpTalk with_token(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"create"};
    all.insert(all.end(), words.begin(), words.end());
    const Words made = say("token", all);
    EXPECT_EQ(made.code, 0) << made.err;
    HttpTalk talk;
    talk.token = made.out.substr(0, made.out.find('\n'));
    constexpr std::string_view kUrl = "http://127.0.0.1:";
    const std::string shown = status();
    const std::size_t at = shown.find(kUrl);
    EXPECT_NE(at, std::string::npos) << shown;
    talk.port = static_cast<std::uint16_t>(atoi(shown.c_str() + at + kUrl.size()));
    return talk;
  }
};

TEST_F(HubShares, ATokenChoosesNoFolderForAServerThatIsNotSharedByRoot) {
  add_server("files", {}, R"("share":"session")");
  begin("");
  HttpTalk talk = with_token({"ci", "--server", "files"});

  const std::string refused = talk.initialize("/mcp/files?root=/etc");
  const std::string missing = talk.initialize("/mcp/files?root=/no/such/folder");

  EXPECT_EQ(status_of(refused), 400) << refused;
  EXPECT_EQ(refused, missing) << "it would tell which folders there are";
  EXPECT_EQ(status_of(talk.initialize("/mcp/files")), 200);
  EXPECT_THAT(talk.call("/mcp/files", "where"), testing::Not(HasSubstr("/etc")));
}

TEST_F(HubShares, ATokenNamesOnlyTheProjectsThatAreListed) {
  for (const char* name : {"a", "b", "c"}) {
    std::filesystem::create_directory(path(name));
    chmod(path(name).c_str(), 0755);
  }
  add_server("files", {}, R"("share":"root","roots":[")" + path("b") + "\"]");
  begin("");
  HttpTalk talk = with_token({"ci", "--server", "files", "--root", path("a")});

  for (const char* name : {"a", "b"}) {
    const std::string url = "/mcp/files?root=" + path(name);
    EXPECT_EQ(status_of(talk.initialize(url)), 200) << name;
    EXPECT_THAT(talk.call(url, "where"), HasSubstr(path(name)));
  }
  const std::string refused = talk.initialize("/mcp/files?root=" + path("c"));
  EXPECT_EQ(status_of(refused), 403) << refused;
  EXPECT_THAT(refused, HasSubstr("--root DIR"));
  EXPECT_EQ(refused, talk.initialize("/mcp/files?root=/no/such/folder"));
}

TEST_F(HubShares, IdleSessionsOfATokenLeaveInstancesForTheUser) {
  add_server("private", {}, R"("share":"session")");
  begin(R"(,"max_instances":4)");
  HttpTalk first = with_token({"ci"});
  HttpTalk second = first;
  ASSERT_EQ(status_of(first.initialize("/mcp/private")), 200);
  EXPECT_THAT(first.call("/mcp/private", "echo", "mine"), HasSubstr("mine"));

  const std::string greeted = second.initialize("/mcp/private");  // what is known of it needs no instance
  const std::string refused = second.call("/mcp/private", "echo");
  McpClient one(connect({"private"}));
  McpClient two(connect({"private"}));

  EXPECT_EQ(status_of(greeted), 200) << greeted;
  EXPECT_THAT(refused, HasSubstr("one token may hold at most 1 instances"));
  EXPECT_TRUE(one.initialize() && two.initialize()) << errors_of_shim();
  EXPECT_EQ(one.call("echo", "own"), "own");
  EXPECT_THAT(first.call("/mcp/private", "echo", "still"), HasSubstr("still"));
}

TEST_F(HubShares, AShimThatFindsNoRoomRunsItsServerItself) {
  add_server("private", {}, R"("share":"session")");
  begin(R"(,"max_instances":1)");
  McpClient first(connect({"private"}));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_EQ(first.call("remember", "something"), "something");

  McpClient second(connect({"private"}));

  EXPECT_TRUE(second.initialize()) << errors_of_shim();
  EXPECT_EQ(second.call("echo", "all the same"), "all the same");
  EXPECT_NE(second.call("pid"), first.call("pid"));
  EXPECT_EQ(counter("keeper"), keeper()) << "the daemon runs one";
}

TEST_F(HubShares, AShimThatFindsNoRoomEndsIfItsServerHasAToolList) {
  add_server("private", {}, R"("share":"session"},"tools":["remember","echo"],"note":{)");
  begin(R"(,"max_instances":1)");
  McpClient first(connect({"private"}));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_EQ(first.call("remember", "something"), "something");

  Session shim(connect({"private"}));

  EXPECT_EQ(shim.wait(), 69) << "nobody else would keep the list: " << errors_of_shim();
  EXPECT_EQ(first.call("echo", "still here"), "still here");
}

TEST_F(HubShares, AShimOfASessionObjectThatFindsNoRoomIsAnsweredWithTheLimit) {
  add_server("private", {}, R"("share":"session")");
  begin(R"(,"max_instances":1)");
  McpClient first(connect({"private"}));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_EQ(first.call("remember", "something"), "something");
  std::string object = say("session", {"create", "--server", "private"}).out;
  object.resize(object.find('\n'));

  McpClient second(connect({"--session", object, "private"}));
  ASSERT_TRUE(second.send(kInitialize));
  const std::string answer = second.answer_to(1);

  EXPECT_THAT(answer, HasSubstr("\"error\"")) << errors_of_shim();
  EXPECT_THAT(answer, HasSubstr("max_instances"));
  EXPECT_EQ(first.call("echo", "still here"), "still here");
}

TEST_F(HubShares, SeveralShimsThatComeAtOnceAllGetAServer) {
  add_server("private", {}, R"("share":"session")");
  begin(R"(,"max_instances":2)");
  std::vector<std::unique_ptr<McpClient>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(std::make_unique<McpClient>(connect({"private"})));

  for (auto& client : clients) EXPECT_TRUE(client->initialize()) << errors_of_shim();

  for (auto& client : clients) EXPECT_EQ(client->call("echo", "here"), "here");
}

TEST_F(HubShares, AnIdOfMegabytesIsRefusedAndNotKept) {
  add_server("private", {}, R"("share":"session")");
  begin("");
  McpClient client(connect({"private"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const long before = memory_of_daemon();

  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.send(R"({"jsonrpc":"2.0","id":")" + std::string(std::size_t{4} << 20, 'x') +
                            R"(","method":"tools/call","params":{"name":"silent"}})"));
  }

  EXPECT_EQ(client.call("echo", "goes on"), "goes on");
  EXPECT_EQ(counter("bad_messages"), 10);
  EXPECT_LT(memory_of_daemon() - before, kSanitized ? 600 << 10 : 24 << 10) << "KiB";
}

}  // namespace
}  // namespace corral::os_tests
