// What is told of instances and sessions while they come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using events::Event;
using events::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Told : public testing::Test {
 protected:
  Told() {
    exchange.pool.write_to({.events = &stream});
    stream.listen([this](const Event& event) { all.push_back(event); });
  }

  /// "spawn", "attach warm", … since the last call
  std::vector<std::string> words() {
    std::vector<std::string> list;
    for (const Event& event : std::exchange(all, {})) {
      const bool plain =
          event.kind == Kind::Ready || event.kind == Kind::Restart || event.kind == Kind::Spawn;
      list.push_back(events::name_of(event.kind) + (plain || event.cause.empty() ? "" : " " + event.cause));
    }
    return list;
  }

  events::Stream stream;
  std::vector<Event> all;
  Exchange exchange;
};

TEST_F(Told, AFailedStartIsToldWithItsReason) {
  exchange.spawner.failure = "command 'files' was not found in PATH";
  exchange.connect().say(kInitialize);
  exchange.settle();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().kind, Kind::Failed);
  EXPECT_EQ(all.front().cause, "start");
  EXPECT_EQ(all.front().server, "files");
  EXPECT_EQ(all.front().text, "server files could not be started: command 'files' was not found in PATH");
}

TEST_F(Told, ARefusedHandshakeIsToldWithoutTheServersWords) {
  exchange.connect().say(kInitialize);
  exchange.settle();
  const auto asked = exchange.server().heard();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(asked.at(0)).at("id")) +
                        R"(,"error":{"code":-32000,"message":"canary"}})");
  exchange.settle();
  const auto failed =
      std::find_if(all.begin(), all.end(), [](const Event& event) { return event.kind == Kind::Failed; });
  ASSERT_NE(failed, all.end());
  EXPECT_EQ(failed->cause, "handshake");
  EXPECT_EQ(failed->text, "server files refused the handshake");
}

TEST_F(Told, AStartIsASpawnAndWhoComesLaterAvoidsOne) {
  exchange.ready_client();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].instance, "instance1000000");
  EXPECT_TRUE(all[1].took.has_value());
  EXPECT_EQ(all[2].session, 1U);
  EXPECT_THAT(words(), ElementsAre("spawn", "ready", "attach spawn"));

  FakeClient& second = exchange.connect();
  second.say(kInitialize);
  exchange.settle();

  EXPECT_THAT(words(), ElementsAre("attach warm"));
}

TEST_F(Told, ACrashIsToldOnceAndItsSuccessorIsARestart) {
  exchange.ready_client();
  words();

  exchange.server().exit(9);
  exchange.settle();

  EXPECT_THAT(words(), ElementsAre("crash died", "extinct died", "restart"));
}

TEST_F(Told, AnEndWithoutProofIsASurvivor) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  words();

  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.server().exit(0, FakeServer::Proof::None);
  exchange.settle();

  EXPECT_THAT(words(), ElementsAre("stop session-ended", "survivor session-ended"));
  EXPECT_STREQ(client.session.record().reason, "stdin-closed");
}

TEST_F(Told, EverySurvivorIsAnEventOfItsOwn) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  all.clear();

  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.server().exit(0, FakeServer::Proof::None, {71, 72, 73});
  exchange.settle();

  std::vector<pid_t> survivors;
  for (const events::Event& event : all) {
    if (event.kind == events::Kind::Survivor) survivors.push_back(event.pid);
  }
  EXPECT_THAT(survivors, ElementsAre(71, 72, 73));
}

TEST_F(Told, AServerThatIsTooOldIsRefusedWithBothVersions) {
  exchange.spec->entry.min_version = "99.0";
  FakeClient& client = exchange.connect();

  client.say(kInitialize);
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();

  const auto heard = client.heard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_THAT(heard[0], HasSubstr("99.0 or later"));
  EXPECT_TRUE(json(heard[0]).as_object().contains("error"));
  EXPECT_THAT(words(), ElementsAre("spawn", "stop unfit", "refused version"));
}

TEST_F(Told, OneThatIsTooLargeFinishesItsCallsAndIsReplaced) {
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})");
  exchange.settle();
  const auto asked = exchange.server().heard();
  words();

  exchange.pool.recycle(InstanceId("instance1000000"), "it is too large");
  exchange.settle();
  EXPECT_THAT(words(), ElementsAre("finding memory"));
  EXPECT_FALSE(exchange.server().input_closed()) << "its call is not answered yet";

  const std::string id = boost::json::serialize(json(asked.back()).at("id"));
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  exchange.settle();
  EXPECT_EQ(json(client.heard().at(0)).at("id"), 1);
  EXPECT_TRUE(exchange.server().input_closed());
  exchange.server().exit(0);
  exchange.settle();

  EXPECT_THAT(words(), ElementsAre("stop recycled", "extinct recycled", "spawn"));
  EXPECT_FALSE(client.exit_code) << "its session goes on";
}

}  // namespace
}  // namespace corral::tests
