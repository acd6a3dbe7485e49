// What a client says while there is no server to take it: what is answered at once, what waits, what is
// cancelled.
#include "session/deferred.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/known_server.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using session::Deferred;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

const std::string kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string modern_call(const std::string& id) {
  return request(id, "tools/call", R"({"name":"work",)" + kMeta + "}");
}
std::string ping(const std::string& id) { return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})"; }

void add(Deferred& deferred, const std::string& text) {
  EXPECT_TRUE(deferred.add(wire::Message(text), nullptr));
}

std::vector<std::string> texts(Deferred& deferred) {
  std::vector<std::string> all;
  while (!deferred.empty()) all.emplace_back(deferred.take_first().message.text());
  return all;
}

TEST(DeferredMessages, KeepTheirOrderAlsoWhenOneIsPutBack) {
  Deferred deferred;
  add(deferred, call("1"));
  add(deferred, call("2"));
  Deferred::Entry first = deferred.take_first();
  EXPECT_EQ(first.message.text(), call("1"));
  deferred.put_back(std::move(first));
  add(deferred, call("3"));
  EXPECT_THAT(texts(deferred), ElementsAre(call("1"), call("2"), call("3")));
  EXPECT_EQ(deferred.bytes(), 0U);
  deferred.put_back(Deferred::entry(wire::Message(call("4"))));
  add(deferred, call("5"));
  EXPECT_THAT(texts(deferred), ElementsAre(call("4"), call("5")));
}

TEST(DeferredMessages, AreCancelledByTheIdOfARequestAsItIsWritten) {
  Deferred deferred;
  add(deferred, call("1"));
  add(deferred, call("\"1\""));
  add(deferred, cancelled("2"));
  EXPECT_FALSE(deferred.cancel("2")) << "it is not a request";
  EXPECT_FALSE(deferred.cancel(""));
  EXPECT_TRUE(deferred.cancel("\"1\""));
  EXPECT_FALSE(deferred.cancel("\"1\""));
  EXPECT_EQ(deferred.bytes(), call("1").size() + cancelled("2").size());
  EXPECT_THAT(texts(deferred), ElementsAre(call("1"), cancelled("2")));
}

TEST(DeferredMessages, OfTwoWithOneIdTheFirstIsCancelled) {
  Deferred deferred;
  add(deferred, call("1", "a"));
  add(deferred, call("1", "b"));
  EXPECT_TRUE(deferred.cancel("1"));
  EXPECT_THAT(texts(deferred), ElementsAre(call("1", "b")));
}

TEST(DeferredMessages, GiveTheListsOutOfTheirOrderAndKnowWhoWantsLogs) {
  Deferred deferred;
  add(deferred, call("1"));
  add(deferred, kList);
  EXPECT_FALSE(deferred.wants_log());
  const std::string logs =
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/logLevel":"info"}}})";
  add(deferred, logs);
  EXPECT_TRUE(deferred.wants_log());
  EXPECT_THAT(deferred.take_lists(), SizeIs(1));
  EXPECT_TRUE(deferred.cancel("7"));
  EXPECT_FALSE(deferred.wants_log());
  EXPECT_THAT(texts(deferred), ElementsAre(call("1")));
}

// ---- while the server starts

TEST(WhileTheServerStarts, ACancelledCallNeverReachesIt) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  client.say(kInitialized);
  client.say(call("1"));
  client.say(call("2"));
  client.say(cancelled("1"));
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();

  const auto heard = exchange.server().heard();
  EXPECT_THAT(heard, Not(Contains(HasSubstr("notifications/cancelled"))));
  EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                          [](const std::string& line) { return line.find("tools/call") != line.npos; }),
            1);
}

TEST(WhileTheServerStarts, ACancellationBehindALargeCallOrManyIsRead) {
  const std::string large = std::string(std::size_t{2} << 20, 'x');
  for (const bool many : {false, true}) {
    Exchange exchange;
    FakeClient& client = exchange.connect();
    client.say(kInitialize);
    client.say(kInitialized);
    const int last = many ? 70 : 1;
    for (int i = 1; i <= last; ++i) client.say(call(std::to_string(i), many ? "work" : large));
    exchange.settle();

    ASSERT_TRUE(client.reading) << many;  // or what follows would stay in its pipe
    client.say(cancelled(std::to_string(last)));
    client.say(ping("\"p\""));
    EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":"p")")));
    exchange.answer_handshake(exchange.server());
    exchange.settle();

    const auto heard = exchange.server().heard();
    EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                            [](const std::string& line) { return line.find("tools/call") != line.npos; }),
              last - 1);
    EXPECT_TRUE(client.reading);
  }
}

/// A client that has only asked for the revisions starts again after its own calls: the waiting messages are
/// taken while an instance that exists already is being opened.
TEST_F(Lazy, MessagesKeepTheirOrderWhenTheNextInstanceIsThereAtOnce) {
  learn();
  write_script("the next version");  // so it is not known before it has started
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{)" + kMeta + "}}");
  client.say(kInitialize);
  client.say(kInitialized);
  for (const char* id : {"1", "2", "3"}) client.say(call(id, std::string("work") + id));
  exchange.settle();
  for (FakeServer& fake : exchange.spawner.servers) exchange.answer_handshake(fake);
  exchange.settle();

  std::string order;
  for (const std::string& line : exchange.spawner.servers.back().heard()) {
    const std::size_t at = line.find("work");
    if (at != line.npos) order += line[at + 4];
  }
  EXPECT_EQ(order, "123");
}

TEST(WhileTheServerStarts, AModernCallThatOpenedTheSessionCanBeCancelled) {
  for (const bool modern_server : {true, false}) {
    Exchange exchange;
    if (modern_server) exchange.spec->entry.modern = true;
    FakeClient& client = exchange.connect();
    client.say(modern_call("1"));
    exchange.settle();
    client.say(cancelled("1"));
    client.say(modern_call("2"));
    exchange.settle();
    if (modern_server) {
      exchange.server().heard();
      exchange.server().say(
          R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}})");
      exchange.settle();
    } else {
      exchange.answer_handshake(exchange.server());
    }
    exchange.settle();

    std::size_t calls = 0;
    for (const std::string& line : exchange.server().heard()) {
      if (line.find("tools/call") != line.npos) ++calls;
      EXPECT_THAT(line, Not(HasSubstr("notifications/cancelled")));
    }
    EXPECT_EQ(calls, 1U) << "the second one";
    EXPECT_THAT(client.heard(), IsEmpty());
  }
}

TEST(WhileTheServerStarts, ACancelledOpeningGetsNoErrorEither) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(modern_call("1"));
  exchange.settle();
  client.say(cancelled("1"));
  exchange.server().exit(1 << 8);
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(client.exits, 1);
}

TEST(WhileTheServerStarts, APingIsAnsweredAndSoIsWhatNeedsNoServer) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  client.say(ping("7"));
  client.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":7,"result":{}})", HasSubstr("-32600")));
}

TEST(WhileTheServerStartsAgain, APingIsAnswered) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(1 << 8);
  exchange.settle();
  ASSERT_STREQ(client.session.attachment().state(), "returning");
  client.say(call("1"));
  client.say(ping("2"));
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":2,"result":{}})"));
}

TEST(WhileTheServerStarts, ABatchIsTakenApartSoThatItsCallsCanBeCancelled) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}})");
  client.say("[" + call("1") + "," + call("2") + "]");
  client.say(cancelled("2"));
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();
  std::size_t calls = 0;
  for (const std::string& line : exchange.server().heard())
    calls += line.find("tools/call") != line.npos ? 1 : 0;
  EXPECT_EQ(calls, 1U);
}

// ---- what the crosstalk test has found

TEST(WhileTheServerDrains, AnInitializeAfterADiscoveryIsAnsweredInTheEnd) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  FakeClient& busy = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{)" + kMeta + "}}");
  busy.say(kInitialize);
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  busy.say(call("1"));
  exchange.settle();
  ASSERT_THAT(client.heard(), SizeIs(1));
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  client.say(kInitialize);
  exchange.settle();
  for (const std::string& line : exchange.server().heard()) {
    if (line.find("tools/call") == line.npos) continue;
    exchange.server().say(answer_to(line));
  }
  exchange.settle();
  exchange.server().exit(0);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.answer_handshake(exchange.server(1));
  exchange.settle();
  EXPECT_THAT(client.heard(), Contains(HasSubstr(R"("id":0,"result")")));
}

/// What a legacy client says before a modern server that asks for input.
class LegacyBeforeModern : public testing::Test {
 protected:
  LegacyBeforeModern() {
    exchange.spec->entry.modern = true;
    client = &exchange.connect();
    client->say(kInitialize);
    exchange.settle();
    discover();
    client->say(kInitialized);
    exchange.settle();
    client->heard();
  }
  /// Answers the discovery of the newest instance.
  void discover() {
    for (const std::string& line : exchange.spawner.servers.back().heard()) {
      if (json(line).at("method") != "server/discover") continue;
      exchange.spawner.servers.back().say(
          answer_to(line, R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})"));
    }
    exchange.settle();
  }
  /// Answers the tools/call that the newest instance has heard with a question of its own.
  void require_input() {
    for (const std::string& line : exchange.spawner.servers.back().heard()) {
      if (json(line).at("method") != "tools/call") continue;
      exchange.spawner.servers.back().say(
          R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(line).at("id")) +
          R"(,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"q":)"
          R"({"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}})");
    }
    exchange.settle();
  }
  std::vector<std::string> with(const std::string& part) {
    std::vector<std::string> lines = client->heard();
    std::erase_if(lines, [&part](const std::string& line) { return line.find(part) == line.npos; });
    return lines;
  }

  Exchange exchange;
  FakeClient* client = nullptr;
};

TEST_F(LegacyBeforeModern, ACallThatWaitsForItsClientIsAnsweredWhenTheServerIsLostForGood) {
  exchange.spec->entry.restart = false;
  client->say(call("1"));
  exchange.settle();
  require_input();
  ASSERT_THAT(with("sampling/createMessage"), SizeIs(1));
  exchange.server().exit(1 << 8);
  exchange.settle();
  EXPECT_THAT(with(R"("id":1,)"), SizeIs(1));
  EXPECT_EQ(client->exits, 1);
}

TEST_F(LegacyBeforeModern, AClientThatClosedItsInputIsNotAskedByTheNextInstance) {
  exchange.server().exit(1 << 8);
  exchange.settle();
  client->say(call("1"));
  client->session.input_ended();
  ASSERT_TRUE(exchange.until([this] { return exchange.started() == 2; }));
  discover();
  require_input();
  EXPECT_THAT(with("sampling/createMessage"), IsEmpty());
  EXPECT_EQ(client->exits, 1) << "its call has failed, and nothing is left to wait for";
}

TEST(WhileTheServerDrains, ACancellationOfABridgeConcernsNoOtherCallThatWaits) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(modern_call("4"));
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();
  const auto heard = exchange.server().heard();
  const auto up = std::find_if(heard.begin(), heard.end(),
                               [](const std::string& line) { return line.find("tools/call") != line.npos; });
  ASSERT_NE(up, heard.end());
  // From here on calls wait for the next instance. One of them has the number that the bridge gave to the
  // first.
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  for (int id = 1; id < 10; ++id) {
    if (id != 4) client.say(modern_call(std::to_string(id)));
  }
  client.say(cancelled("4"));
  exchange.settle();
  exchange.server().exit(0);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.answer_handshake(exchange.server(1));
  exchange.settle();
  std::size_t calls = 0;
  for (const std::string& line : exchange.server(1).heard())
    calls += line.find("tools/call") != line.npos ? 1 : 0;
  EXPECT_EQ(calls, 8U);
}

}  // namespace
}  // namespace corral::tests
