// What one slot does when several things happen to it at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {
using pool::Cause;
using pool::InstanceEnd;
using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SharedSlot : public testing::Test {
 protected:
  std::optional<std::vector<InstanceEnd>> gone;
  Exchange exchange;
  void retire(Cause cause) {
    exchange.pool.retire("files", cause, [this](const std::vector<InstanceEnd>& all) { gone = all; });
  }
};
class PrivateSlot : public SharedSlot {
 protected:
  PrivateSlot() { exchange.spec->entry.share = config::Share::Session; }
};

TEST_F(SharedSlot, ADeathWhileItDrainsAnswersTheCallOnce) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  retire(Cause::Restarted);
  exchange.settle();
  exchange.server().exit(3 << 8);
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
}

TEST_F(SharedSlot, ALastAnswerAndAnExitInOneTurnAreBothHeard) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  retire(Cause::Restarted);
  exchange.settle();
  exchange.server().say(answer_to(asked.back(), "{}"));
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
}

TEST_F(SharedSlot, ALostInstanceTellsNobodyAnything) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back(), "{}"));
  exchange.settle();
  client.heard();
  exchange.server().close_input();
  ASSERT_TRUE(exchange.until([&] { return std::string(client.session.attachment().state()) != "ready"; }));
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty()) << "from an instance that it left";
  client.session.end(session::EndReason::ClientGone);
  exchange.settle();
  EXPECT_EQ(client.exits, 1);
  exchange.clients.clear();  // as Hub::forget
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}})");
  exchange.settle();
}

TEST_F(SharedSlot, ANewDefinitionCountsAlsoIfItStartsTheSame) {
  FakeClient& client = exchange.ready_client();
  auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
  redefined->allows_tool = [](std::string_view) { return false; };
  client.session.attachment().redefine(redefined);
  retire(Cause::Reloaded);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  exchange.server(1).heard();
  client.heard();
  client.say(request("1", "tools/call", R"({"name":"rm"})"));
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), IsEmpty()) << "forbidden tool reached the server";
}

TEST_F(SharedSlot, ANewDefinitionReachesASessionThatIsBeingOpened) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
  redefined->launch.argv = {"/bin/other-server"};
  redefined->key = knowledge::launch_key(redefined->launch);
  client.session.attachment().redefine(redefined);
  retire(Cause::Reloaded);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_EQ(exchange.pool.slots().front().spec().launch.argv[0], "/bin/other-server");
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_EQ(exchange.pool.slots().front().spec().launch.argv[0], "/bin/other-server");
}

TEST_F(SharedSlot, ARemovedServerIsNotStartedForASessionThatWaits) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  client.session.withdraw("server files is no longer configured");
  retire(Cause::Reloaded);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U) << "a removed server was started again";
  EXPECT_TRUE(client.session.ended());
}

TEST_F(PrivateSlot, AnAnswerToADeadServerIsNotTakenForOneToTheNext) {
  FakeClient& client = exchange.ready_client();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"password?"}})");
  exchange.settle();
  const auto old_id = json(client.heard().at(0)).at("id");
  exchange.server().exit(3 << 8);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  exchange.server(1).heard();
  exchange.server(1).say(
      R"({"jsonrpc":"2.0","id":"new","method":"elicitation/create","params":{"message":"post publicly?"}})");
  exchange.settle();
  client.say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(old_id) +
             R"(,"result":{"content":"secret"}})");
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), IsEmpty()) << "the answer to the old question";
}

TEST_F(PrivateSlot, AQuestionOfARestartedServerIsTakenBack) {
  FakeClient& client = exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}})");
  exchange.settle();
  client.heard();
  retire(Cause::Restarted);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_THAT(client.heard(), Contains(HasSubstr("notifications/cancelled")));
}

TEST_F(SharedSlot, AClientIsReadAgainWhenTheServerThatWasFullIsGone) {
  exchange.pool.set_limits({.drain = milliseconds(10)});
  FakeClient& client = exchange.ready_client();
  const std::string big(200'000, 'x');
  for (int i = 0; i < 12; ++i)
    client.say(request(std::to_string(i), "tools/call", R"({"name":")" + big + "\"}"));
  exchange.settle();
  EXPECT_FALSE(client.reading);
  retire(Cause::Stopped);
  ASSERT_TRUE(exchange.until([&] { return std::string(client.session.attachment().state()) == "parked"; }));
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_TRUE(gone);
  EXPECT_THAT(client.heard(), SizeIs(12));
  EXPECT_TRUE(client.reading) << "nobody ever reads this client again";
}

TEST_F(PrivateSlot, ASlowClientDoesNotMakeItsServerHang) {
  exchange.spec->entry.probe = milliseconds(20);
  FakeClient& client = exchange.ready_client();
  std::vector<std::string> asked;
  ASSERT_TRUE(exchange.until([&] {
    asked = exchange.server().heard();
    return !asked.empty();
  }));
  exchange.server().say(answer_to(asked[0], "{}"));
  exchange.settle();
  client.slow = true;
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}})");
  exchange.settle();
  const auto end = Clock::now() + milliseconds(1500);
  exchange.until([&] {
    for (const auto& line : exchange.server().heard())
      if (line.find("ping") != std::string::npos) exchange.server().say(answer_to(line, "{}"));
    return Clock::now() > end || exchange.pool.slots().front().life() != pool::Life::Ready;
  });
  EXPECT_EQ(exchange.pool.slots().front().life(), pool::Life::Ready)
      << pool::cause_name(exchange.pool.slots().front().run().cause());
}

TEST_F(PrivateSlot, ABatchWakesItOnce) {
  exchange.spec->entry.park = true;
  exchange.spec->entry.idle = milliseconds(20);
  FakeClient& client = exchange.connect();
  client.say(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}})");
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  client.say(kInitialized);
  exchange.settle();
  ASSERT_TRUE(exchange.until([&] { return exchange.server().input_closed(); }));
  exchange.server().exit(0);
  exchange.settle();
  client.heard();
  client.say("[" + request("1", "tools/call") + "," + request("2", "tools/call") + "]");
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U);
}

TEST_F(SharedSlot, AModernCallThatWasCancelledMeanwhileReachesNobody) {
  FakeClient& client = exchange.connect();
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}})";
  client.say(request("1", "tools/call", "{\"name\":\"x\"," + meta + "}"));
  exchange.settle();
  const std::string disc =
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}})";
  exchange.server().say(answer_to(exchange.server().heard().back(), disc));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back(), "{}"));
  exchange.settle();
  exchange.server().exit(3 << 8);
  exchange.settle();
  client.heard();
  client.say(request("7", "tools/call", "{\"name\":\"x\"," + meta + "}"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  exchange.settle();
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.settle();
  exchange.server(1).say(answer_to(exchange.server(1).heard().back(), disc));
  exchange.settle();
  for (const auto& line : exchange.server(1).heard()) EXPECT_THAT(line, Not(HasSubstr("tools/call")));
}

TEST_F(SharedSlot, IsNotStartedAgainForNobody) {
  exchange.pool.set_limits({.restart = {.second_delay = milliseconds(60)}});
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(3 << 8);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  exchange.server(1).exit(3 << 8);
  exchange.settle();
  ASSERT_EQ(exchange.pool.slots().front().life(), pool::Life::Waiting);
  client.session.end(session::EndReason::ShuttingDown);
  exchange.pool.stop_all(instance::Instance::Haste::Polite);
  const auto end = Clock::now() + milliseconds(200);
  exchange.until([&] { return Clock::now() > end; });
  EXPECT_EQ(exchange.started(), 2U) << "started during a shutdown, for nobody";
}

TEST_F(SharedSlot, CallsThatWereHeldBackAreAnsweredWhateverHappens) {
  exchange.spec->entry.restart = false;
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  retire(Cause::Restarted);
  client.say(request("2", "tools/call"));
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
  ASSERT_EQ(exchange.started(), 2U) << "it was to be restarted, whether it died meanwhile or not";
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(exchange.server(1).heard().back(), HasSubstr("tools/call"));
}

TEST_F(SharedSlot, ASubscriptionThatIsMadeAgainHasNoAnswer) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back(), "{}"));
  exchange.settle();
  exchange.server().exit(3 << 8);
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  exchange.settle();
  client.heard();
  client.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  const auto heard = client.heard();
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(SharedSlot, AnIdleTimeOfZeroDoesNotLoopForEver) {
  exchange.spec->entry.idle = milliseconds(0);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  EXPECT_THAT(client.heard(), SizeIs(1));
}

TEST_F(PrivateSlot, AnInstanceThatIsBeingEndedIsNotCalledHung) {
  exchange.spec->entry.probe = milliseconds(20);
  exchange.ready_client();
  std::vector<std::string> asked;
  ASSERT_TRUE(exchange.until([&] {
    asked = exchange.server().heard();
    return !asked.empty();
  }));
  exchange.server().say(answer_to(asked[0], "{}"));
  exchange.settle();
  retire(Cause::Restarted);
  const auto end = Clock::now() + milliseconds(800);
  exchange.until([&] { return Clock::now() > end; });
  exchange.server().exit(SIGKILL);
  exchange.settle();
  ASSERT_TRUE(gone);
  EXPECT_STREQ(pool::cause_name(gone->at(0).cause), "restarted");
}

TEST_F(PrivateSlot, TheEndOfItsSessionWaitsForAParkedTree) {
  exchange.spec->entry.park = true;
  exchange.spec->entry.idle = milliseconds(20);
  FakeClient& client = exchange.ready_client({}, "s-1");
  ASSERT_TRUE(exchange.until([&] { return exchange.server().input_closed(); }));
  bool told = false;
  client.session.end(session::EndReason::SessionEnded, [&](const InstanceEnd*) { told = true; });
  exchange.settle();
  EXPECT_FALSE(told) << "its tree is still alive";
  EXPECT_EQ(exchange.pool.living(), 1U);
}

TEST_F(SharedSlot, AHungServerEndsItsSessionsWhereItIsNotRestarted) {
  exchange.spec->entry.probe = milliseconds(20);
  exchange.spec->entry.restart = false;
  FakeClient& client = exchange.ready_client();
  std::vector<std::string> asked;
  ASSERT_TRUE(exchange.until([&] {
    asked = exchange.server().heard();
    return !asked.empty();
  }));
  exchange.server().say(answer_to(asked[0], "{}"));
  ASSERT_TRUE(exchange.until([&] { return exchange.pool.slots().front().life() == pool::Life::Dying; }));
  exchange.server().exit(SIGKILL);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_TRUE(client.session.ended());
}

TEST_F(PrivateSlot, ARefusedSubscriptionDoesNotKeepIt) {
  exchange.spec->entry.park = true;
  exchange.spec->entry.idle = milliseconds(20);
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  const auto asked = exchange.server().heard().back();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(asked).at("id")) +
                        R"(,"error":{"code":-32601,"message":"no"}})");
  exchange.settle();
  const auto end = Clock::now() + milliseconds(300);
  exchange.until([&] { return Clock::now() > end || exchange.server().input_closed(); });
  EXPECT_TRUE(exchange.server().input_closed());
}

TEST_F(PrivateSlot, TheNextInstanceIsHeldUpByASlowClientToo) {
  FakeClient& client = exchange.ready_client();
  client.slow = true;
  const std::string news =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}})";
  exchange.server().say(news);
  exchange.settle();
  client.heard();
  exchange.server().say(news);
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty()) << "paused";
  exchange.server().exit(3 << 8);
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  client.heard();
  for (int i = 0; i < 3; ++i) {
    exchange.server(1).say(news);
    exchange.settle();
  }
  EXPECT_THAT(client.heard(), SizeIs(testing::Le(1U))) << "the new one is not held up";
}

TEST_F(SharedSlot, ACancelledCallDoesNotHoldUpADrain) {
  exchange.pool.set_limits({.drain = std::chrono::seconds(3)});
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  retire(Cause::Restarted);
  exchange.settle();
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
}
}  // namespace
}  // namespace corral::tests
