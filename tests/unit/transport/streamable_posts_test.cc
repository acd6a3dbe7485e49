// What becomes of one POST.
#include "transport/streamable_fixture.h"

namespace corral::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StreamablePost : public StreamableTest {};

TEST_F(StreamablePost, WithARequestGetsItsResponseAsJson) {
  start();
  const HttpReply reply = post(call("\"x\""));
  EXPECT_EQ(reply->status, 0) << "nobody has said anything yet";
  EXPECT_EQ(transport->in_use(), 1U);
  answer(R"({"content":[]})");

  EXPECT_TRUE(reply->replied);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->header("Content-Type"), "application/json");
  EXPECT_EQ(reply->body, R"({"jsonrpc":"2.0","id":"x","result":{"content":[]}})");
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamablePost, GetsALargeResponseWithoutACopyOfIt) {
  start();
  const HttpReply reply = post(call("1"));
  const std::string before = R"({"jsonrpc":"2.0","id":)";
  const std::string after = R"(,"result":{"a":")" + std::string(300'000, 'x') + "\"}}";
  const auto owner = std::make_shared<const std::string>(before + "77" + after);
  transport->send({*owner, owner}, {{{before.size(), before.size() + 2}, "1"}});
  EXPECT_EQ(reply->header("Content-Type"), "application/json");
  EXPECT_EQ(reply->body, before + "1" + after);
  EXPECT_TRUE(reply->over);
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamablePost, WithANotificationOrAResponseIsAccepted) {
  start();
  for (const char* message : {R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})",
                              R"({"jsonrpc":"2.0","id":77,"result":{}})"}) {
    const HttpReply reply = post(message);
    EXPECT_EQ(reply->status, 202) << message;
    EXPECT_EQ(reply->body, "");
  }
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("roots/list_changed")));
}

TEST_F(StreamablePost, BecomesAStreamWhenSomethingComesBeforeItsResponse) {
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  say(log_message("a"));
  EXPECT_EQ(reply->header("Content-Type"), "text/event-stream");
  EXPECT_FALSE(reply->over);
  say(question("9"));
  answer();

  EXPECT_TRUE(reply->over);
  EXPECT_FALSE(reply->replied);
  const auto data = data_of(reply);
  ASSERT_THAT(data, SizeIs(3));
  EXPECT_EQ(data[0], log_message("a"));
  EXPECT_THAT(data[1], HasSubstr("roots/list"));
  EXPECT_EQ(data[2], R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_THAT(events_of(reply->body), SizeIs(3)) << "this revision has no events without a message";
}

TEST_F(StreamablePost, WithAnOpenIdIsRefused) {
  start();
  const HttpReply first = post(call("5"));
  const HttpReply second = post(call("5"));
  EXPECT_EQ(second->status, 400);
  EXPECT_EQ(json(second->body).at("error").at("code"), -32600);
  EXPECT_EQ(json(second->body).at("id"), 5);
  EXPECT_EQ(post(call("\"5\""))->status, 0) << "a string is another id";
  answer();
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(post(call("5"))->status, 0) << "it is free again";
}

TEST_F(StreamablePost, BeyondTheBoundOfOpenRequestsIsRefusedForNow) {
  limits.open_requests = 2;
  start();
  post(call("1"));
  const HttpReply left_alone = post(call("2"));
  const HttpReply reply = post(call("3"));
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->header("Retry-After"), "1");
  EXPECT_EQ(json(reply->body).at("error").at("code"), -31003);
  EXPECT_EQ(left_alone->status, 0);
}

TEST_F(StreamablePost, WithASecondInitializeIsRefused) {
  start();
  const HttpReply reply = post(initialize("2025-11-25"));
  EXPECT_EQ(reply->status, 400);
  EXPECT_EQ(json(reply->body).at("error").at("code"), -32600);
  exchange.settle();
  EXPECT_FALSE(transport->session().ended());
}

TEST_F(StreamablePost, WithAnInitializeThatFailsLeavesNoSession) {
  open();
  const HttpReply reply = post(initialize("2025-11-25"));
  exchange.server().exit(256);
  exchange.settle();
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(json(reply->body).at("error").at("code"), -31001);
  EXPECT_EQ(reply->header("Mcp-Session-Id"), "");
  EXPECT_EQ(gone, 1);
}

TEST_F(StreamablePost, WhoseClientLeavesBeforeItKnowsTheSessionEndsIt) {
  open();
  const HttpReply reply = post(initialize("2025-11-25"));
  reply->hang_up();
  exchange.settle();
  EXPECT_TRUE(transport->session().ended());
}

TEST_F(StreamablePost, ThatIsCancelledGetsAnEmptyStream) {
  start();
  const HttpReply reply = post(call("1"));
  EXPECT_EQ(post(cancelled("1"))->status, 202);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->header("Content-Type"), "text/event-stream");
  EXPECT_EQ(reply->body, "");
  EXPECT_TRUE(reply->over);

  answer();
  EXPECT_EQ(reply->body, "") << "a late answer goes nowhere";
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamablePost, ThatIsCancelledEndsItsStream) {
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  say(log_message("a"));
  post(cancelled("1"));
  EXPECT_TRUE(reply->over);
  EXPECT_THAT(data_of(reply), ElementsAre(log_message("a")));
}

TEST_F(StreamablePost, HeldForLongBecomesAStreamThatSaysNothingYet) {
  limits.hold = std::chrono::milliseconds(1);
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  ASSERT_TRUE(exchange.until([&] { return reply->streaming; }));
  EXPECT_EQ(reply->body, ":\n\n");
  answer();
  EXPECT_TRUE(reply->over);
  EXPECT_THAT(data_of(reply), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
}

TEST_F(StreamablePost, HeldForLongIsPrimedInTheNewestLegacyRevision) {
  limits.hold = std::chrono::milliseconds(1);
  start();
  const HttpReply reply = post(call("1"));
  ASSERT_TRUE(exchange.until([&] { return reply->streaming; }));
  const auto events = events_of(reply->body);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_NE(events[0].id, "");
  EXPECT_EQ(events[0].data, "");
  EXPECT_EQ(events[0].retry, "2000");
}

TEST_F(StreamablePost, ThatIsSilentForLongIsKeptAlive) {
  limits.alive = std::chrono::milliseconds(1);
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  const HttpReply get = listen();
  say(log_message("a"));
  const std::string before = reply->body;
  ASSERT_TRUE(exchange.until([&] { return !get->body.empty() && reply->body.size() > before.size(); }));
  EXPECT_EQ(get->body.substr(0, 3), ":\n\n");
  EXPECT_EQ(reply->body.substr(before.size(), 3), ":\n\n");
}

class StreamableBatch : public StreamableTest {};

TEST_F(StreamableBatch, IsAnsweredOnOneStream) {
  start("2025-03-26");
  const HttpReply reply = post("[" + call("1") + "," + tests::kInitialized + "," + call("2") + "]");
  answer("{}", 1);
  EXPECT_EQ(reply->header("Content-Type"), "text/event-stream");
  EXPECT_FALSE(reply->over);
  answer("{}");
  EXPECT_TRUE(reply->over);
  EXPECT_THAT(data_of(reply), ElementsAre(R"({"jsonrpc":"2.0","id":2,"result":{}})",
                                          R"({"jsonrpc":"2.0","id":1,"result":{}})"));
}

TEST_F(StreamableBatch, WithoutRequestsIsAccepted) {
  start("2025-03-26");
  EXPECT_EQ(post(std::string("[") + tests::kInitialized + "]")->status, 202);
}

TEST_F(StreamableBatch, IsRefusedInOtherRevisions) {
  start("2025-06-18");
  for (const std::string& batch : {"[" + call("1") + "]", std::string("[") + tests::kInitialized + "]"}) {
    const HttpReply reply = post(batch);
    EXPECT_EQ(reply->status, 400) << batch;
    EXPECT_THAT(reply->body, HasSubstr("this revision has no batches"));
  }
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamableBatch, WithOneBadMessageIsRefusedWhole) {
  start("2025-03-26");
  for (const std::string& batch : {"[" + call("1") + ",[]]", "[" + call("1") + ",7]", std::string("[]"),
                                   "[" + call("1") + "," + call("1") + "]"}) {
    EXPECT_EQ(post(batch)->status, 400) << batch;
  }
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

}  // namespace
}  // namespace corral::transport
