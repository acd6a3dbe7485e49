// Which stream a message takes, and how a client that lost one gets the rest.
#include "transport/streamable_fixture.h"

namespace corral::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StreamableStreams : public StreamableTest {
 protected:
  static std::string last_id(const HttpReply& reply) { return events_of(reply->body).back().id; }
};

TEST_F(StreamableStreams, ProgressGoesToThePostWithItsToken) {
  start("2025-06-18");
  const HttpReply get = listen();
  const HttpReply one = post(call("1", "\"a\""));
  const HttpReply two = post(call("2", "\"b\""));
  progress(0);
  EXPECT_THAT(data_of(one), ElementsAre(HasSubstr(R"("progressToken":"a")")));
  EXPECT_EQ(two->body + get->body, "");
}

TEST_F(StreamableStreams, AMessageOfTheOnlyOpenPostGoesThere) {
  start("2025-06-18");
  const HttpReply get = listen();
  const HttpReply only = post(call("1"));
  say(log_message("a"));
  say(question("8"));
  EXPECT_THAT(data_of(only), SizeIs(2));
  EXPECT_EQ(get->body, "");
}

TEST_F(StreamableStreams, AMessageThatCouldBeOfTwoPostsGoesToTheListener) {
  start("2025-06-18");
  const HttpReply get = listen();
  const HttpReply one = post(call("1"));
  const HttpReply two = post(call("2"));
  say(log_message("a"));
  EXPECT_THAT(data_of(get), ElementsAre(log_message("a")));
  get->hang_up();
  say(log_message("b"));
  EXPECT_THAT(data_of(two), ElementsAre(log_message("b"))) << "nobody listens: the newest";
  EXPECT_EQ(one->body, "");
}

TEST_F(StreamableStreams, NewsOfListsGoesToTheListener) {
  start("2025-06-18");
  const HttpReply get = listen();
  const HttpReply only = post(call("1"));
  say(kListChanged);
  EXPECT_THAT(data_of(get), ElementsAre(kListChanged));
  EXPECT_EQ(only->body, "");
}

TEST_F(StreamableStreams, WhatNobodyListensToIsKeptForTheListener) {
  start("2025-06-18");
  say(log_message("a"));
  say(question("8"));
  EXPECT_EQ(transport->in_use(), 0U);
  const HttpReply get = listen();
  EXPECT_THAT(data_of(get), ElementsAre(log_message("a"), HasSubstr("roots/list")));
  get->hang_up();
  EXPECT_THAT(data_of(listen()), IsEmpty()) << "it was given to somebody";
}

TEST_F(StreamableStreams, KeepsQuestionsRatherThanNews) {
  limits.replay = 4000;
  start("2025-06-18");
  say(question("8"));
  for (int i = 0; i < 40; ++i) say(log_message(std::to_string(i) + std::string(200, '.')));
  const auto kept = data_of(listen());
  ASSERT_THAT(kept, SizeIs(testing::Gt(2U)));
  EXPECT_THAT(kept.front(), HasSubstr("roots/list"));
  EXPECT_THAT(kept.back(), HasSubstr("39."));
  EXPECT_EQ(transport->dropped(), 0U) << "only news were lost";
}

TEST_F(StreamableStreams, CountsTheQuestionsThatItCouldNotKeep) {
  limits.replay = 1000;
  start("2025-06-18");
  for (int i = 0; i < 20; ++i) say(question(std::to_string(i)));
  EXPECT_GT(transport->dropped(), 5U);
}

TEST_F(StreamableStreams, AListenerIsPrimedInTheNewestLegacyRevisionOnly) {
  start("2025-11-25");
  say(log_message("a"));
  const auto events = events_of(listen()->body);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].data, "");
  EXPECT_EQ(events[0].retry, "2000");
  EXPECT_EQ(events[1].data, log_message("a"));
  EXPECT_NE(events[0].id, events[1].id);
}

TEST_F(StreamableStreams, AListenerTakesThePlaceOfAnOlderOne) {
  start("2025-06-18");
  const HttpReply older = listen();
  const HttpReply newer = listen();
  EXPECT_TRUE(older->over);
  older->hang_up();
  say(log_message("a"));
  EXPECT_EQ(older->body, "");
  EXPECT_THAT(data_of(newer), SizeIs(1));
  EXPECT_EQ(transport->in_use(), 1U);
}

TEST_F(StreamableStreams, APostThatWasLostIsContinuedWhereItsClientWas) {
  start("2025-06-18");
  const HttpReply reply = post(call("1", "7"));
  say(log_message("seen"));
  const std::string seen = last_id(reply);
  reply->hang_up();
  EXPECT_EQ(transport->in_use(), 0U) << "it goes on, but nobody holds the session";
  progress(0);
  const HttpReply again = listen(seen);
  EXPECT_THAT(data_of(again), ElementsAre(HasSubstr("notifications/progress")));
  EXPECT_FALSE(again->over);
  answer();
  EXPECT_THAT(data_of(again), ElementsAre(HasSubstr("progress"), HasSubstr(R"("id":1,"result")")));
  EXPECT_TRUE(again->over);
}

TEST_F(StreamableStreams, APostWhoseLossOnlyItsClientHasNoticedMovesToTheNewConnection) {
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  say(log_message("seen"));
  const std::string seen = last_id(reply);
  say(log_message("lost"));
  const HttpReply again = listen(seen);
  EXPECT_TRUE(reply->over);
  answer();
  EXPECT_THAT(data_of(again), ElementsAre(log_message("lost"), HasSubstr(R"("id":1,"result")")));
  EXPECT_THAT(data_of(reply), SizeIs(2));
}

TEST_F(StreamableStreams, ACancelledPostIsNotAskedForAgainAndAgain) {
  start("2025-11-25");
  const HttpReply reply = post(call("1"));
  say(log_message("seen"));
  post(cancelled("1"));
  EXPECT_EQ(listen(last_id(reply))->status, 204);
}

TEST_F(StreamableStreams, TheAnswerOfALostPostIsGivenOnceAskedFor) {
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  say(log_message("seen"));
  reply->hang_up();
  answer();
  const HttpReply again = listen(last_id(reply));
  EXPECT_THAT(data_of(again), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  EXPECT_TRUE(again->over);
  EXPECT_EQ(listen(last_id(again))->status, 204) << "who has all is told not to ask again";
  EXPECT_EQ(transport->in_use(), 0U);
}

TEST_F(StreamableStreams, ALostListenerGetsItsOwnStreamOnly) {
  start("2025-06-18");
  const HttpReply get = listen();
  say(log_message("a"));
  const std::string seen = last_id(get);
  say(log_message("b"));
  const HttpReply reply = post(call("1"));
  say(log_message("of the call"));
  get->hang_up();
  answer();
  say(log_message("c"));

  const HttpReply again = listen(seen);
  EXPECT_THAT(data_of(again), ElementsAre(log_message("b"), log_message("c")));
  say(log_message("d"));
  EXPECT_THAT(data_of(again), SizeIs(3));
  EXPECT_FALSE(again->over);
}

TEST_F(StreamableStreams, AnAnswerTooLargeToKeepIsAnErrorForWhoComesBack) {
  limits.replay = 4000;
  start("2025-06-18");
  const HttpReply reply = post(call("1"));
  say(log_message("seen"));
  reply->hang_up();
  answer(R"({"a":")" + std::string(5000, 'x') + "\"}");
  const auto data = data_of(listen(last_id(reply)));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(json(data[0]).at("id"), 1);
  EXPECT_EQ(json(data[0]).at("error").at("code"), -31004);
}

TEST_F(StreamableStreams, AnEventThatIsUnknownOrTooOldIsRefused) {
  limits.replay = 2000;
  start("2025-06-18");
  const HttpReply get = listen();
  say(log_message("first"));
  const std::string first = last_id(get);
  for (int i = 0; i < 40; ++i) say(log_message("more"));
  const std::string last = last_id(get);
  for (const std::string& id : {first, std::string("0-4000"), std::string("77-1"), std::string("0-0"),
                                std::string("-"), std::string("x"), std::string("1-18446744073709551616")}) {
    const HttpReply reply = listen(id);
    EXPECT_EQ(reply->status, 400) << id;
    EXPECT_THAT(reply->body, HasSubstr("open a new stream without it")) << id;
  }
  EXPECT_FALSE(get->over) << "the listener was not disturbed";
  EXPECT_EQ(listen(last)->status, 200);
}

TEST_F(StreamableStreams, EventIdsNeverComeTwice) {
  start("2025-11-25");
  std::vector<std::string> ids;
  const auto collect = [&](const HttpReply& reply) {
    for (const Seen& event : events_of(reply->body)) ids.push_back(event.id);
  };
  const HttpReply get = listen();
  say(log_message("a"));
  const HttpReply reply = post(call("1"));
  say(log_message("b"));
  answer();
  get->hang_up();
  say(log_message("kept"));
  const HttpReply again = listen();
  const HttpReply third = listen(last_id(again));
  for (const HttpReply& one : {get, reply, again, third}) collect(one);
  EXPECT_THAT(ids, SizeIs(testing::Ge(7U)));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace corral::transport
