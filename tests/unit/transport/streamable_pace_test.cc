// A client that does not read, a server that does not take, and the end of both.
#include "transport/streamable_fixture.h"
#include "wire/channel.h"

namespace corral::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class StreamablePace : public StreamableTest {};

TEST_F(StreamablePace, IsCongestedFromTheHighWaterMarkUntilItsStreamsAreDrained) {
  start("2025-06-18");
  const HttpReply get = listen();
  get->slow = true;
  for (int i = 0; i < 20 && !transport->congested(); ++i) say(log_message(std::string(60'000, 'x')));
  EXPECT_TRUE(transport->congested());
  EXPECT_FALSE(transport->overflowing());
  const HttpReply reply = post(call("1"));
  EXPECT_THAT(calls(), IsEmpty()) << "who does not read is not listened to";
  get->slow = false;
  get->drain();
  exchange.settle();
  EXPECT_FALSE(transport->congested());
  EXPECT_THAT(calls(), SizeIs(1)) << "what waited goes on";
}

TEST_F(StreamablePace, AListenerThatHangsUpEndsTheCongestion) {
  start("2025-06-18");
  const HttpReply get = listen();
  get->slow = true;
  for (int i = 0; i < 20 && !transport->congested(); ++i) say(log_message(std::string(60'000, 'x')));
  ASSERT_TRUE(transport->congested());
  get->hang_up();
  EXPECT_FALSE(transport->congested());
}

TEST_F(StreamablePace, AnAnswerRightBehindWhatCongestedItIsTheEndOfThat) {
  start("2025-06-18");
  const HttpReply slow = post(call("1"));
  slow->slow = true;
  const std::string much = log_message(std::string(60'000, 'x'));
  while (slow->waiting + much.size() < wire::Channel::kHighWater) say(much);
  ASSERT_THAT(calls(), SizeIs(1));
  ASSERT_FALSE(transport->congested());
  // On one line: behind a line that congests it nothing is read.
  say("[" + much + R"(,{"jsonrpc":"2.0","id":)" + boost::json::serialize(calls()[0].at("id")) +
      R"(,"result":{}}])");
  calls().clear();
  ASSERT_TRUE(slow->over);
  EXPECT_FALSE(transport->congested()) << "no stream of the session is left that could drain";
  const HttpReply next = post(call("2"));
  EXPECT_THAT(calls(), SizeIs(1));
}

TEST_F(StreamablePace, EndsASessionWhoseClientReadsNothingAtAll) {
  limits.queued = 100'000;
  start("2025-06-18");
  const HttpReply get = listen();
  get->slow = true;
  say(log_message(std::string(60'000, 'x')));
  say(log_message(std::string(60'000, 'x')));
  EXPECT_TRUE(transport->session().ended());
}

TEST_F(StreamablePace, PostsWaitInOrderWhileItIsPaused) {
  limits.waiting = 3;
  start("2025-06-18");
  transport->pause();
  const HttpReply first = post(call("1"));
  const HttpReply news = post(tests::kInitialized);
  const HttpReply second = post(call("2"));
  const HttpReply beyond = post(call("3"));
  EXPECT_EQ(beyond->status, 503);
  EXPECT_EQ(beyond->header("Retry-After"), "1");
  EXPECT_EQ(news->status, 0);
  EXPECT_EQ(transport->in_use(), 3U);
  first->hang_up();
  transport->resume();
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(),
              ElementsAre(HasSubstr("tools/call"), HasSubstr("initialized"), HasSubstr("tools/call")));
  EXPECT_EQ(news->status, 202);
  EXPECT_EQ(second->status, 0);
}

TEST_F(StreamablePace, APostThatIsTakenBackWhileItWaitsNeverReachesTheServer) {
  start("2025-06-18");
  transport->pause();
  const HttpReply first = post(call("1"));
  const HttpReply second = post(call("2"));
  const HttpReply cancellation =
      post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(cancellation->status, 202);
  EXPECT_EQ(first->status, 200);
  EXPECT_TRUE(first->over);

  transport->resume();
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("tools/call")));
  EXPECT_EQ(second->status, 0);
  EXPECT_EQ(transport->in_use(), 1U);
}

TEST_F(StreamablePace, LargePostsDoNotAllWaitWhileItIsPaused) {
  start("2025-06-18");
  transport->pause();
  const std::string large =
      R"({"jsonrpc":"2.0","method":"notifications/x","params":{"a":")" + std::string(3'000'000, 'x') + "\"}}";
  EXPECT_EQ(post(large)->status, 0);
  EXPECT_EQ(post(large)->status, 0);
  EXPECT_EQ(post(large)->status, 503);
}

class StreamableEnd : public StreamableTest {};

TEST_F(StreamableEnd, AnswersWhatIsOpenAndFinishesItsStreams) {
  start("2025-06-18");
  const HttpReply get = listen();
  const HttpReply held = post(call("1"));
  const HttpReply streaming = post(call("2", "7"));
  progress(1);
  transport->session().end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_TRUE(held->replied);
  EXPECT_EQ(json(held->body).at("id"), 1);
  EXPECT_TRUE(json(held->body).as_object().contains("error"));
  EXPECT_THAT(data_of(streaming), ElementsAre(HasSubstr("progress"), HasSubstr(R"("id":2,"error")")));
  EXPECT_TRUE(streaming->over);
  EXPECT_TRUE(get->over);
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(gone, 1);
}

TEST_F(StreamableEnd, AStreamThatIsClosedAnswersEveryCallThatItStillOwes) {
  start("2025-03-26");
  const HttpReply batch = post("[" + call("1", "7") + "," + call("2") + "]");
  progress(0);
  transport->close(session::Transport::Close::Flushed);

  EXPECT_THAT(data_of(batch), UnorderedElementsAre(HasSubstr("progress"), HasSubstr(R"("id":1,"error")"),
                                                   HasSubstr(R"("id":2,"error")")));
  EXPECT_TRUE(batch->over);
}

TEST_F(StreamableEnd, AtOnceStillRepliesToWhoWaitsForAStatusLine) {
  start("2025-06-18");
  const HttpReply held = post(call("1"));
  transport->session().end(session::EndReason::ClientGone);
  EXPECT_EQ(held->status, 404);
  EXPECT_EQ(json(held->body).at("id"), 1);
  EXPECT_EQ(json(held->body).at("error").at("code"), -31001);
}

TEST_F(StreamableEnd, RefusesWhatComesAfterIt) {
  start("2025-06-18");
  transport->pause();
  const HttpReply waiting = post(call("1"));
  transport->session().end(session::EndReason::SessionEnded);
  EXPECT_EQ(waiting->status, 404);
  EXPECT_EQ(post(call("2"))->status, 404);
  EXPECT_EQ(listen()->status, 404);
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamableEnd, OfItsServerIsItsEnd) {
  start("2025-06-18");
  const HttpReply held = post(call("1"));
  exchange.server().exit(256);
  exchange.settle();
  EXPECT_TRUE(held->over);
  EXPECT_THAT(held->body, HasSubstr("error"));
}

TEST_F(StreamableEnd, MayComeWhileExchangesAreOpen) {
  start("2025-06-18");
  const HttpReply held = post(call("1"));
  const HttpReply get = listen();
  transport.reset();
  held->hang_up();
  get->hang_up();
  get->drain();
  EXPECT_EQ(held->status, 404);
}

}  // namespace
}  // namespace corral::transport
