// Which era a server speaks is found out at its first start, in place, and remembered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDiscovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0})";
constexpr const char* kMethodNotFound = R"({"code":-32601,"message":"Method not found"})";

class Probe : public testing::Test {
 protected:
  Probe() { exchange.spec->entry.modern.reset(); }

  static std::string id_text(const std::string& line) { return boost::json::serialize(json(line).at("id")); }
  /// What the newest server was asked last.
  std::string asked() {
    exchange.settle();
    const auto heard = exchange.spawner.servers.back().heard();
    last = heard.empty() ? "" : heard.back();
    return last;
  }
  void answer(const std::string& member, const std::string& value) {
    exchange.spawner.servers.back().say(R"({"jsonrpc":"2.0","id":)" + id_text(last) + ",\"" + member +
                                        "\":" + value + "}");
    exchange.settle();
  }
  void answer_initialize() {
    answer("result",
           R"({"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}})");
  }
  FakeClient& connect() {
    FakeClient& client = exchange.connect();
    client.say(kInitialize);
    exchange.settle();
    return client;
  }

  Exchange exchange{config::Share::Session};
  std::string last;
};

TEST_F(Probe, ALegacyServerIsGreetedInTheSameProcess) {
  FakeClient& client = connect();
  ASSERT_THAT(asked(), HasSubstr("server/discover"));

  answer("error", kMethodNotFound);
  ASSERT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  EXPECT_THAT(last, HasSubstr("tester")) << "a private server hears its client's own words";
  answer_initialize();

  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("protocolVersion":"2025-06-18")")));
}

TEST_F(Probe, TheVerdictIsRemembered) {
  connect();
  asked();
  answer("error", kMethodNotFound);
  asked();
  answer_initialize();

  connect();

  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
}

TEST_F(Probe, AServerThatExitsIsStartedAgainAndGreetedInTheLegacyWay) {
  FakeClient& client = connect();
  asked();

  exchange.server().exit(1 << 8);
  exchange.settle();

  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  answer_initialize();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("result")));
}

TEST_F(Probe, AServerThatExitsBothTimesIsAFailure) {
  FakeClient& client = connect();
  exchange.server().exit(1 << 8);
  exchange.settle();
  exchange.server(1).exit(3 << 8);
  exchange.settle();

  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("exited with code 3")));
  EXPECT_EQ(client.exit_code, 3);
}

TEST_F(Probe, AServerThatStaysSilentIsStartedAgain) {
  FakeClient& client = connect();
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  ASSERT_TRUE(exchange.until([&] { return exchange.server().input_closed(); }));
  EXPECT_THAT(client.heard(), IsEmpty()) << "its client just waits";
  exchange.server().exit(0);
  exchange.settle();

  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
}

TEST_F(Probe, AResultOfAnotherShapeIsALegacyServers) {
  connect();
  asked();
  answer("result", "{}");
  EXPECT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(Probe, AModernServerIsDrivenModernForALegacyClient) {
  FakeClient& client = connect();
  asked();
  answer("result", kDiscovered);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("protocolVersion":"2025-06-18")")));

  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})");
  EXPECT_THAT(asked(), HasSubstr(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"));
}

TEST_F(Probe, AServerThatHasBecomeModernIsAskedAgainInPlace) {
  connect();
  asked();
  answer("error", kMethodNotFound);
  asked();
  answer_initialize();

  FakeClient& second = connect();
  ASSERT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  answer("error", R"({"code":-32022,"message":"Unsupported","data":{"supported":["2026-07-28"]}})");
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  answer("result", kDiscovered);

  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr("result")));
}

TEST_F(Probe, AServerThatHasBecomeLegacyIsAskedAgainInPlace) {
  connect();
  asked();
  answer("result", kDiscovered);

  exchange.spec->entry.share = config::Share::Session;
  FakeClient& second = connect();
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  answer("error", kMethodNotFound);
  ASSERT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  answer_initialize();
  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr("result")));
}

TEST_F(Probe, AServerThatHasBecomeLegacyIsNotSharedForHavingBeenModern) {
  exchange.spec->entry.share = config::Share::Auto;
  connect();
  asked();
  answer("result", kDiscovered);

  FakeClient& second = connect();
  ASSERT_EQ(exchange.started(), 2U);
  asked();
  answer("error", kMethodNotFound);
  asked();
  answer_initialize();
  ASSERT_TRUE(exchange.server(1).input_closed()) << "nothing shows that it may be shared";
  exchange.server(1).exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 3U);
  ASSERT_THAT(asked(), HasSubstr("tester")) << "it is private now";
  answer_initialize();
  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr(R"("protocolVersion":"2025-06-18")")));
  connect();
  EXPECT_EQ(exchange.started(), 4U);
}

TEST_F(Probe, AServerThatWeEndWhileItIsAskedHasSaidNothingOfItsEra) {
  connect();
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_THAT(asked(), HasSubstr("server/discover"));
}

/// A legacy client whose call waits for its own answer to a question of a modern server.
class ProbeQuestion : public Probe {
 protected:
  ProbeQuestion() : client(connect()) {
    asked();
    answer("result", kDiscovered);
    client.say(R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"x"}})");
    asked();
    answer(
        "result",
        R"({"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}},"requestState":"s"})");
    for (const std::string& line : client.heard()) {
      if (line.find("sampling/createMessage") != std::string::npos) question = id_text(line);
    }
  }
  std::string reply() const {
    return R"({"jsonrpc":"2.0","id":)" + question +
           R"(,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"t"}}})";
  }

  FakeClient& client;
  std::string question;
};

TEST_F(ProbeQuestion, TheAnswerOfAClientGoesToTheNextInstanceIfTheServerDiedMeanwhile) {
  ASSERT_FALSE(question.empty());
  exchange.server().exit(1 << 8);
  exchange.settle();
  client.say(reply());
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  answer("result", kDiscovered);
  EXPECT_THAT(asked(), HasSubstr("inputResponses"));
}

TEST_F(ProbeQuestion, ACallThatWaitsForItsClientIsAnsweredWhenTheSessionIsEnded) {
  ASSERT_FALSE(question.empty());
  client.session.end(session::EndReason::SessionEnded);
  EXPECT_THAT(client.heard(), testing::Contains(HasSubstr(R"("id":"c")")));
}

TEST_F(Probe, ACallThatABusyServerPutOffIsStillAnsweredAfterTheLastWordOfTheClient) {
  FakeClient& client = connect();
  asked();
  answer("result", kDiscovered);
  client.say(R"({"jsonrpc":"2.0","id":"later","method":"tools/call","params":{"name":"x"}})");
  asked();
  answer("result", R"({"resultType":"input_required","inputRequests":{},"requestState":"s"})");
  client.session.input_ended();
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  ASSERT_TRUE(exchange.until([&] { return !asked().empty(); })) << "it is asked again";
  answer("result", R"({"resultType":"complete","content":[]})");
  EXPECT_THAT(client.heard(), testing::Contains(HasSubstr(R"("id":"later")")));
  EXPECT_TRUE(client.session.ended());
}

TEST_F(Probe, ACallThatABusyServerPutOffIsAnsweredIfThatServerIsGone) {
  FakeClient& client = connect();
  asked();
  answer("result", kDiscovered);
  client.say(R"({"jsonrpc":"2.0","id":"later","method":"tools/call","params":{"name":"x"}})");
  asked();
  answer("result", R"({"resultType":"input_required","inputRequests":{},"requestState":"s"})");
  client.heard();
  exchange.pool.retire("files", pool::Cause::Stopped, [](const auto&) {});
  exchange.settle();
  exchange.server().exit(0);
  std::vector<std::string> heard;
  EXPECT_TRUE(exchange.until([&] {
    heard = client.heard();
    return !heard.empty();
  }));
  EXPECT_THAT(heard, testing::Contains(HasSubstr(R"("id":"later")")));
}

TEST_F(Probe, AServerWithoutACommonModernRevisionIsGreetedInTheLegacyWay) {
  FakeClient& client = connect();
  asked();
  answer("result", R"({"resultType":"complete","supportedVersions":["2031-01-01"],"capabilities":{}})");
  ASSERT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  answer("error", kMethodNotFound);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32601"))) << "it is of no use to us";
}

TEST_F(Probe, APinnedEraIsTheOnlyOneThatIsTried) {
  exchange.spec->entry.modern = true;
  FakeClient& client = connect();
  ASSERT_THAT(asked(), HasSubstr("server/discover"));
  answer("error", kMethodNotFound);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(Probe, ARefusedInitializeIsTheServersOwnWord) {
  FakeClient& client = connect();
  asked();
  answer("error", kMethodNotFound);
  asked();
  answer("error", R"({"code":-32602,"message":"no such client"})");
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("no such client")));
}

TEST_F(Probe, AClientMayLookAtBothErasAndTakeTheOther) {
  FakeClient& client = exchange.connect();
  client.say(
      R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
  asked();
  answer("error", kMethodNotFound);
  asked();
  answer_initialize();
  ASSERT_THAT(client.heard(), ElementsAre(HasSubstr("supportedVersions")));

  client.say(kInitialize);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U) << "one after the other";
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_THAT(asked(), HasSubstr(R"("method":"initialize")"));
  answer_initialize();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("protocolVersion":"2025-06-18")")));
}

}  // namespace
}  // namespace corral::tests
