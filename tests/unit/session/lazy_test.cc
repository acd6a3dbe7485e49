// With what is known of a server, a session attaches and lists without any process.
#include "session/known_server.h"

namespace corral::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(Lazy, ASessionAttachesAndListsWithoutAProcess) {
  learn();
  const std::size_t before = exchange.started();

  FakeClient& client = attach();
  client.say(kList);
  exchange.settle();

  EXPECT_EQ(exchange.started(), before);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("serverInfo")"),
                                          R"({"jsonrpc":"2.0","id":"l","result":)" + kTools + "}"));
  EXPECT_STREQ(client.session.attachment().state(), "lazy");
}

TEST_F(Lazy, TheFirstOtherRequestStartsOneInstanceForAll) {
  learn();
  const std::size_t before = exchange.started();
  std::vector<FakeClient*> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(&attach());

  for (FakeClient* client : clients) client->say(kCall);
  exchange.settle();

  EXPECT_EQ(exchange.started(), before + 1);
  FakeServer& fake = exchange.spawner.servers.back();
  ASSERT_TRUE(exchange.answer_handshake(fake));
  for (int round = 0; round < 3; ++round) answer(fake, R"({"content":[]})");
  for (FakeClient* client : clients) {
    EXPECT_THAT(client->heard(), ElementsAre(HasSubstr("serverInfo"), HasSubstr(R"("id":"c")")));
  }
}

TEST_F(Lazy, AListThatIsNotKnownStartsTheServer) {
  learn();
  const std::size_t before = exchange.started();
  FakeClient& client = attach();
  client.say(R"({"jsonrpc":"2.0","id":"p","method":"prompts/list"})");
  exchange.settle();
  EXPECT_EQ(exchange.started(), before + 1);
}

TEST_F(Lazy, ALiveListThatDiffersIsAnnouncedAndReplacesTheKnownOne) {
  learn();
  FakeClient& client = attach();
  client.say(kList);
  client.say(kCall);
  exchange.settle();
  client.heard();
  FakeServer& fake = exchange.spawner.servers.back();
  ASSERT_TRUE(exchange.answer_handshake(fake));
  const std::string other = R"({"tools":[{"name":"write","inputSchema":{"type":"object"}}]})";
  for (const std::string& line : fake.heard()) {
    const auto message = json(line).as_object();
    if (!message.contains("id")) continue;
    const bool list = message.at("method") == "tools/list";
    fake.say(R"({"jsonrpc":"2.0","id":)" + id_text(line) + R"(,"result":)" +
             (list ? other : R"({"content":[]})") + "}");
  }
  exchange.settle();

  const auto heard = client.heard();
  EXPECT_THAT(heard, testing::Contains(HasSubstr("notifications/tools/list_changed")));
  client.session.end(session::EndReason::InputClosed);
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  exchange.settle();
  fake.exit(0);
  exchange.settle();
  FakeClient& next = attach();
  next.say(kList);
  exchange.settle();
  EXPECT_THAT(next.heard(), testing::Contains(HasSubstr(R"("name":"write")")));
}

TEST_F(Lazy, AnEagerServerIsStartedAtOnce) {
  learn();
  exchange.spec->entry.eager = true;
  const std::size_t before = exchange.started();
  attach();
  EXPECT_EQ(exchange.started(), before + 1);
}

TEST_F(Lazy, ChangedFilesMakeWhatIsKnownWorthless) {
  learn();
  write_script("another text");
  const std::size_t before = exchange.started();
  attach();
  EXPECT_EQ(exchange.started(), before + 1);
}

TEST_F(Lazy, AVanishedFileMakesWhatIsKnownWorthless) {
  learn();
  std::filesystem::remove(folder + "/script");
  const std::size_t before = exchange.started();
  attach();
  EXPECT_EQ(exchange.started(), before + 1);
}

TEST_F(Lazy, AServersWordThatItsToolsChangedIsHeeded) {
  FakeClient& client = exchange.ready_client(R"({"tools":{"listChanged":true}})");
  client.say(kList);
  exchange.settle();
  answer(exchange.server(), kTools);
  exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  exchange.settle();
  client.session.end(session::EndReason::InputClosed);
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();

  FakeClient& next = attach();
  EXPECT_EQ(exchange.started(), 1U) << "the greeting is still good";
  next.say(kList);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U) << "the list is not";
}

TEST_F(Lazy, AListIsComparedAgainAfterTheServerSaidThatItChanged) {
  learn();
  FakeClient& first = attach();
  FakeClient& second = attach();
  first.say(kList);
  second.say(kList);
  first.say(kCall);
  exchange.settle();
  FakeServer& fake = exchange.spawner.servers.back();
  ASSERT_TRUE(exchange.answer_handshake(fake));
  ASSERT_TRUE(answer(fake, kTools));
  fake.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  exchange.settle();
  second.heard();

  second.say(kCall);
  exchange.settle();
  answer(fake, R"({"tools":[{"name":"write"}]})");
  EXPECT_THAT(second.heard(), testing::Contains(HasSubstr("notifications/tools/list_changed")));
}

TEST_F(Lazy, AModernClientProbesAndHangsUpWithoutAProcess) {
  learn();
  const std::size_t before = exchange.started();
  FakeClient& client = exchange.connect();
  client.say(
      R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("supportedVersions")));
  client.session.input_ended();
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
  EXPECT_EQ(exchange.started(), before);
}

TEST_F(LazyPrivate, TheInstanceHearsTheClientsOwnWords) {
  learn();
  FakeClient& client = attach();
  client.say(kCall);
  exchange.settle();
  FakeServer& fake = exchange.spawner.servers.back();
  const auto heard = fake.heard();
  ASSERT_THAT(heard, ElementsAre(AllOf(HasSubstr(R"("method":"initialize")"), HasSubstr("tester"))));
  fake.say(
      R"({"jsonrpc":"2.0","id":)" + id_text(heard[0]) +
      R"(,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}}})");
  exchange.settle();
  EXPECT_THAT(fake.heard(), ElementsAre(HasSubstr("notifications/initialized"), HasSubstr("tools/call")));
  EXPECT_THAT(client.notes, Not(testing::Contains(HasSubstr("it was restarted"))));
}

TEST_F(LazyPrivate, TheLatestRequestOfAModernClientSaysWhatItCanDo) {
  const auto request = [](const std::string& method, const std::string& capabilities) {
    return R"({"jsonrpc":"2.0","id":")" + method + R"(","method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":)" +
           capabilities + "}}}";
  };
  FakeClient& first = exchange.connect();
  first.say(request("server/discover", "{}"));
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server()));
  first.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();

  FakeClient& client = exchange.connect();
  client.say(request("server/discover", "{}"));
  exchange.settle();
  ASSERT_EQ(exchange.started(), 1U);
  client.say(request("tools/call", R"({"elicitation":{}})"));
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_THAT(exchange.server(1).heard(), ElementsAre(HasSubstr(R"("elicitation")")));
}

TEST_F(LazyPrivate, TheInstanceIsInitializedBeforeItsListsAreCompared) {
  learn();
  FakeClient& client = attach();
  client.say(kList);
  client.say(kCall);
  exchange.settle();
  FakeServer& fake = exchange.spawner.servers.back();
  ASSERT_TRUE(exchange.answer_handshake(fake));
  EXPECT_THAT(fake.heard(), ElementsAre(HasSubstr("notifications/initialized"), HasSubstr("tools/list"),
                                        HasSubstr("tools/call")))
      << "servers refuse what comes before";
}

TEST_F(LazyPrivate, ALegacyInstanceOfAModernClientIsInitializedOnce) {
  const auto modern = [](const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":"m","method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{}})" +
           params + "}}";
  };
  FakeClient& first = exchange.connect();
  first.say(modern("tools/list", ""));
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server()));
  answer(exchange.server(), kTools);
  first.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  FakeClient& client = exchange.connect();
  client.say(modern("tools/list", ""));
  exchange.settle();
  ASSERT_EQ(exchange.started(), 1U);

  client.say(modern("tools/call", R"(,"name":"read")"));
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  const auto heard = exchange.server(1).heard();
  EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                          [](const std::string& line) { return line.find("/initialized") != line.npos; }),
            1);
}

TEST_F(LazyPrivate, AClientThatCanDoMoreIsNotToldOfWhatAnotherOneSaw) {
  learn();
  const std::size_t before = exchange.started();
  FakeClient& client = exchange.connect();
  client.say(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"tester","version":"1"}}})");
  exchange.settle();
  EXPECT_EQ(exchange.started(), before + 1);
}

class LazyAuto : public Lazy {
 protected:
  LazyAuto() : Lazy(config::Share::Auto) {}

  static constexpr const char* kReadOnly =
      R"({"tools":[{"name":"read","annotations":{"readOnlyHint":true}}]})";
  /// A private session has seen that every tool is read-only, and is over; so is its server.
  void learn_read_only() {
    FakeClient& client = exchange.ready_client(R"({"tools":{}})");
    client.say(kList);
    exchange.settle();
    answer(exchange.server(), kReadOnly);
    client.session.end(session::EndReason::InputClosed);
    exchange.settle();
    exchange.server().exit(0);
    exchange.settle();
  }
};

TEST_F(LazyAuto, WhatWaitedForASharedServerThatProvedUnfitIsAnsweredWithoutAProcess) {
  learn_read_only();
  FakeClient& client = attach();
  client.say(kList);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  ASSERT_TRUE(answer(exchange.server(1), kTools)) << "they are looked at before anybody shares it";

  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("serverInfo"), HasSubstr(R"("id":"l")")));
}

TEST_F(LazyAuto, AServerThatDoesNotShowItsToolsWithinTenSecondsIsNotShared) {
  learn_read_only();
  FakeClient& client = attach();
  client.say(kCall);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  exchange.clock.pass(std::chrono::milliseconds(9999));
  exchange.settle();
  EXPECT_FALSE(exchange.server(1).input_closed());
  exchange.clock.pass(std::chrono::milliseconds(1));
  exchange.settle();
  EXPECT_TRUE(exchange.server(1).input_closed());
  exchange.server(1).exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 3U);
  EXPECT_FALSE(exchange.pool.slots().back().decision().shared);
}

TEST_F(LazyAuto, CallsThatWaitedForAnUnfitSharedServerKeepTheirOrder) {
  learn_read_only();
  FakeClient& client = attach();
  for (const char* id : {"1", "2", "3"}) {
    client.say(R"({"jsonrpc":"2.0","id":)" + std::string(id) +
               R"(,"method":"tools/call","params":{"name":"read","arguments":{"n":)" + id + "}}}");
  }
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  ASSERT_TRUE(answer(exchange.server(1), kTools));
  exchange.server(1).exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 3U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(2)));
  EXPECT_THAT(exchange.server(2).heard(), ElementsAre(HasSubstr("initialized"), HasSubstr(R"("n":1)"),
                                                      HasSubstr(R"("n":2)"), HasSubstr(R"("n":3)")));
}

TEST_F(LazyAuto, ABatchThatWaitedForAnUnfitSharedServerGoesToOneInstance) {
  const std::string initialize =
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";
  FakeClient& first = exchange.connect();
  first.say(initialize);
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server()));
  first.say(kList);
  exchange.settle();
  answer(exchange.server(), kReadOnly);
  first.session.end(session::EndReason::InputClosed);
  exchange.server().exit(0);
  exchange.settle();
  FakeClient& client = exchange.connect();
  client.say(initialize);
  client.say(
      R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read"}}])");
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  ASSERT_TRUE(answer(exchange.server(1), kTools));
  exchange.server(1).exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 3U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(2)));
  answer(exchange.server(2), R"({"content":[]})");
  EXPECT_THAT(client.heard(),
              ElementsAre(HasSubstr(R"("id":0)"), HasSubstr(R"("id":1)"), HasSubstr(R"("id":2)")));
}

TEST_F(LazyAuto, ASessionThatWasGreetedForASharedServerDoesNotShareOneThatProvedUnfit) {
  learn_read_only();
  FakeClient& first = attach();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  answer(exchange.server(1), kReadOnly);
  first.session.end(session::EndReason::InputClosed);
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  exchange.settle();
  exchange.server(1).exit(0);
  exchange.settle();
  FakeClient& second = attach();
  FakeClient& third = attach();
  ASSERT_EQ(exchange.started(), 2U) << "both are told what the shared one said";

  second.say(kCall);
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(2)));
  answer(exchange.server(2), kTools);
  exchange.server(2).exit(0);
  exchange.settle();
  third.say(kCall);
  exchange.settle();

  for (const pool::Slot& slot : exchange.pool.slots()) {
    EXPECT_FALSE(slot.decision().shared) << slot.decision().reason;
  }
}

TEST_F(LazyPrivate, ClientsThatDescribeThemselvesInAnotherWayEachTimeDoNotFillTheMemory) {
  const auto once = [this](int number) {
    FakeClient& client = exchange.connect();
    client.say(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"extensions":{"x)" +
        std::to_string(number) + R"(":{}}},"clientInfo":{"name":"tester","version":"1"}}})");
    exchange.settle();
    exchange.answer_handshake(exchange.spawner.servers.back());
    client.session.end(session::EndReason::InputClosed);
    exchange.settle();
    exchange.spawner.servers.back().exit(0);
    exchange.settle();
  };
  for (int number = 100; number < 140; ++number) once(number);
  ASSERT_EQ(exchange.started(), 40U);
  once(139);
  EXPECT_EQ(exchange.started(), 40U) << "the last one is known";
  once(100);
  EXPECT_EQ(exchange.started(), 41U) << "the first one is forgotten";
}

TEST_F(LazyAuto, AServerThatWasFoundUnfitMayBeSharedWithOtherCode) {
  learn_read_only();
  FakeClient& client = attach();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  answer(exchange.server(1), kTools);
  client.session.end(session::EndReason::InputClosed);
  exchange.server(1).exit(0);
  exchange.settle();
  write_script("another text");
  FakeClient& fresh = exchange.ready_client(R"({"tools":{}})");
  fresh.say(kList);
  exchange.settle();
  ASSERT_TRUE(answer(exchange.spawner.servers.back(), kReadOnly));

  attach();
  EXPECT_TRUE(exchange.pool.slots().back().decision().shared)
      << exchange.pool.slots().back().decision().reason;
}

/// Outlives the sessions that hold something of it.
struct TokenShares {
  Shares shares;
  Account& token = shares.account("token:ci");
};

class LazyOfAToken : protected TokenShares, public Lazy {
 protected:
  LazyOfAToken() { exchange.spec->account = &token; }
};

TEST_F(LazyOfAToken, TheFirstRequestOfAModernClientIsHeldOnItsAccountWhileItWaits) {
  learn();
  const auto request = [](const std::string& id, std::size_t about_itself, std::size_t bytes) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":"read","a":")" +
           std::string(bytes, 'a') +
           R"(","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{},"x":")" +
           std::string(about_itself, 'm') + R"("}}})";
  };
  FakeClient& client = exchange.connect();
  const std::size_t before = token.used(Good::Bytes);

  client.say(request("1", 10, 50'000));
  EXPECT_STREQ(client.session.attachment().state(), "returning") << "it was greeted without a server";
  EXPECT_GT(token.used(Good::Bytes), before + 50'000);

  client.session.end(session::EndReason::ClientGone);
  exchange.clients.remove_if([&client](const FakeClient& one) { return &one == &client; });
  EXPECT_EQ(token.used(Good::Bytes), before);
}

TEST_F(LazyOfAToken, WhatAModernClientSaysOfItselfLaterIsWeighedAgain) {
  learn();
  const auto request = [](const std::string& id, const std::string& method, std::size_t about_itself) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{},"x":")" +
           std::string(about_itself, 'm') + R"("}}})";
  };
  FakeClient& client = exchange.connect();
  client.say(request("1", "server/discover", 10));
  ASSERT_STREQ(client.session.attachment().state(), "lazy");
  client.heard();
  shares.set_most(Good::Bytes, 4 * (token.used(Good::Bytes) + 50'000));

  client.say(request("2", "prompts/get", 30'000));
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("one token may hold at most")));
  EXPECT_STREQ(client.session.attachment().state(), "lazy");
  const std::size_t before = token.used(Good::Bytes);
  const std::string smaller = request("3", "prompts/get", 10'000);
  client.say(smaller);

  EXPECT_GT(token.used(Good::Bytes), before + smaller.size() + 19'000) << "twice, as at the beginning";
}

}  // namespace
}  // namespace corral::tests
