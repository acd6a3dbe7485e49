// The path of a call through a router, in both directions, with sessions that only record and a server that
// is two pipe ends.
#include "router/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"
#include "session/exchange.h"

namespace corral::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ARouter : public testing::Test, public router::Router::Listener {
 protected:
  void on_error_output(router::Router&, std::string_view bytes) override { errors_.append(bytes); }
  void on_open(router::Router&) override { events_.push_back("open"); }
  void on_unusable(router::Router&) override { events_.push_back("unusable"); }
  void on_calls_finished(router::Router&) override { events_.push_back("finished"); }
  void on_hung(router::Router&) override { events_.push_back("hung"); }
  void on_server_lost(router::Router&, const router::LastWords& why) override {
    events_.push_back("lost: " + why.for_log());
  }
  void on_instance_ended(router::Router&, const instance::TreeEnd&) override { events_.push_back("ended"); }

  void start() {
    router_ = std::make_unique<router::Router>(loop_, options_, *this, learner_);
    proc::LaunchSpec spec;
    spec.argv = {"/bin/fake-server"};
    spec.directory = "/";
    ASSERT_TRUE(router_->start(spawner_, spec, std::size_t{1} << 20));
    router_->open({.expected = knowledge::Era::Legacy,
                   .pinned = true,
                   .initialize_params = instance::plain_initialize_params()});
    settle();
    server().say(
        answer_to(server().heard().at(0),
                  R"({"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f"}})"));
    settle();
    server().heard();
  }
  void open() {
    start();
    ASSERT_THAT(events_, ElementsAre("open"));
    events_.clear();
    router_->attach(one_);
    router_->attach(two_);
    server().heard();
  }
  FakeServer& server() { return spawner_.servers.back(); }
  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop_.run_due();
  }
  /// What the server gets from this message of a client.
  std::vector<std::string> send(RecordedPort& port, const std::string& line) {
    router_->from_client(port, wire::Message(line));
    settle();
    return server().heard();
  }
  void say(const std::string& line) {
    server().say(line);
    settle();
  }
  std::vector<std::string> events() { return std::exchange(events_, {}); }

  HeldClock clock_;
  Loop loop_;
  FakeSpawner spawner_;
  router::RouterOptions options_{.server = "files", .shared = true, .call_timeout = seconds(30)};
  RecordedLearner learner_;
  std::vector<std::string> events_;
  std::string errors_;
  RecordedPort one_{1};
  RecordedPort two_{2};
  std::unique_ptr<router::Router> router_;
};

TEST_F(ARouter, GivesEachAnswerToTheSessionThatMadeTheCall) {
  open();
  const auto first = send(one_, request("1", "tools/call", R"({"name":"a"})"));
  const auto second = send(two_, request("1", "tools/call", R"({"name":"b"})"));
  ASSERT_THAT(first, ElementsAre(HasSubstr(R"("name":"a")")));
  ASSERT_THAT(second, ElementsAre(HasSubstr(R"("name":"b")")));
  EXPECT_NE(json(first[0]).at("id"), json(second[0]).at("id"));
  EXPECT_EQ(router_->activity().calls, 2U);
  EXPECT_TRUE(router_->activity().in_use);

  say(answer_to(second[0], R"({"content":"b"})"));
  EXPECT_THAT(one_.received(), IsEmpty());
  EXPECT_THAT(two_.received(), ElementsAre(result("1", R"({"content":"b"})")));
  say(answer_to(first[0], R"({"content":"a"})"));
  EXPECT_THAT(one_.received(), ElementsAre(result("1", R"({"content":"a"})")));
  say(answer_to(first[0], R"({"content":"a"})"));
  EXPECT_THAT(one_.received(), IsEmpty()) << "a call has one answer";
  EXPECT_EQ(router_->counters().unknown_answers, 1U);
  EXPECT_EQ(router_->counters().answers, 2U);
  EXPECT_FALSE(router_->activity().in_use);
}

TEST_F(ARouter, PassesTheBytesOfACallOnExceptIdAndProgressToken) {
  open();
  const auto sent = send(one_, R"({"params":{"_meta":{"progressToken":"t"},  "x":[1]},"method":"m","id":"i",)"
                               R"("jsonrpc":"2.0"})");
  ASSERT_THAT(sent, SizeIs(1));
  const std::string id = boost::json::serialize(json(sent[0]).at("id"));
  EXPECT_EQ(sent[0], R"({"params":{"_meta":{"progressToken":)" + id + R"(},  "x":[1]},"method":"m","id":)" +
                         id + R"(,"jsonrpc":"2.0"})");
}

TEST_F(ARouter, ACallThatItsClientCancelsIsCancelledAtTheServer) {
  open();
  const auto sent = send(one_, request("\"i\"", "m"));
  const std::string id = boost::json::serialize(json(sent.at(0)).at("id"));
  EXPECT_THAT(send(two_, notification("notifications/cancelled", R"({"requestId":"i"})")), IsEmpty())
      << "that is not a call of this session";
  EXPECT_THAT(send(one_, notification("notifications/cancelled", R"({"requestId":"i"})")),
              ElementsAre(notification("notifications/cancelled", R"({"requestId":)" + id + "}")));
  say(answer_to(sent[0]));
  EXPECT_THAT(one_.received(), IsEmpty());
  EXPECT_EQ(router_->counters().late_answers, 1U);
}

TEST_F(ARouter, MessagesOfABatchAreHandledOneByOne) {
  open();
  const auto first = send(one_, request("1", "m"));
  const auto second = send(two_, request("2", "m"));
  const std::string id = boost::json::serialize(json(second.at(0)).at("id"));
  say("[" + answer_to(first.at(0)) + R"(,{"id":)" + id + R"(,"result":{}},[]])");
  EXPECT_THAT(one_.received(), ElementsAre(result("1")));
  EXPECT_THAT(two_.received(), ElementsAre(AllOf(HasSubstr("\"id\":2"), HasSubstr("not JSON-RPC 2.0"))));
}

TEST_F(ARouter, ACallThatTakesTooLongIsAnsweredWithAnError) {
  open();
  send(one_, request("1", "m"));
  clock_.pass(seconds(30));
  settle();
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr("did not answer within 30 s")));
  EXPECT_THAT(server().heard(), ElementsAre(HasSubstr("notifications/cancelled")));
}

TEST_F(ARouter, TheCallsOfASessionThatLeavesAreCancelled) {
  open();
  send(one_, request("1", "m"));
  router_->detach(one_);
  settle();
  EXPECT_THAT(server().heard(), ElementsAre(HasSubstr("the session ended")));
  EXPECT_THAT(router_->sessions().ids(), ElementsAre(two_.id()));
  EXPECT_EQ(router_->calls_of(one_), 0U);
}

TEST_F(ARouter, ReportsTheEndOfADrainInATurnOfItsOwn) {
  open();
  const auto sent = send(one_, request("1", "m"));
  router_->drain();
  settle();
  EXPECT_TRUE(router_->draining());
  EXPECT_THAT(events(), IsEmpty());
  say(answer_to(sent.at(0)));
  EXPECT_THAT(events(), ElementsAre("finished"));
}

TEST_F(ARouter, AnswersEveryCallWhenTheServerIsLost) {
  open();
  send(one_, request("1", "m"));
  server().exit(3 << 8);
  settle();
  EXPECT_THAT(one_.received(), ElementsAre(AllOf(HasSubstr("\"id\":1"), HasSubstr("exited with code 3"))));
  EXPECT_THAT(events(), ElementsAre("lost: server files exited with code 3", "ended"));
  EXPECT_THAT(send(two_, request("2", "m")), IsEmpty());
  EXPECT_THAT(two_.received(), ElementsAre(HasSubstr("server files has ended")));
}

TEST_F(ARouter, IsUnusableIfToolsThatShouldBeReadOnlyAreNot) {
  options_.confirm_read_only = true;
  start();
  EXPECT_THAT(events(), IsEmpty()) << "it asks for the tools first";
  clock_.pass(seconds(10));
  settle();
  EXPECT_THAT(events(), ElementsAre("unusable"));
  EXPECT_TRUE(router_->admission().contradicts());
  EXPECT_FALSE(router_->admission().open());
}

TEST_F(ARouter, ASlowClientStopsAPrivateServerAndNotASharedOne) {
  options_.shared = false;
  open();
  router_->detach(two_);
  router_->client_pace(one_, router::ClientPace::Slow);
  server().say(notification("notifications/tools/list_changed"));
  settle();
  EXPECT_THAT(one_.received(), IsEmpty());
  router_->client_pace(one_, router::ClientPace::Reads);
  settle();
  EXPECT_THAT(one_.received(), SizeIs(1));
}

}  // namespace
}  // namespace corral::tests
