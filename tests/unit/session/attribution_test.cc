// Which session a log line belongs to: the one that alone can have caused it, or nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string call(int id) { return tests::call(std::to_string(id)); }

std::string log_line(const std::string& text) {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":")" + text +
         "\"}}";
}

/// Sessions that live at one address, one after the other: what malloc does to the next session of the same
/// size, done on purpose, so that it also happens under a sanitizer.
class OneAddress {
 public:
  explicit OneAddress(Exchange& exchange) : exchange_(exchange) {
    exchange.spec->key = knowledge::launch_key(exchange.spec->launch);
  }
  FakeClient& next(std::uint64_t id) {
    client_.reset();
    client_.emplace(exchange_.loop, SessionId(id), exchange_.pool, exchange_.spec, "");
    client_->say(kInitialize);
    exchange_.settle();
    client_->say(kInitialized);
    exchange_.settle();
    client_->heard();
    return *client_;
  }

 private:
  Exchange& exchange_;
  std::optional<FakeClient> client_;
};

TEST(Attribution, ASessionAtTheAddressOfOneThatDiedGetsNoneOfItsLogLines) {
  Exchange exchange;
  FakeClient& opener = exchange.ready_client();
  OneAddress address(exchange);
  FakeClient& first = address.next(101);
  first.say(call(1));
  exchange.settle();
  first.session.end(session::EndReason::ClientGone);
  opener.session.end(session::EndReason::InputClosed);
  exchange.settle();

  FakeClient& second = address.next(102);
  exchange.server().say(log_line("of the first"));
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty());
  second.say(call(1));
  exchange.settle();
  exchange.server().say(log_line("still of the first"));
  exchange.settle();

  EXPECT_THAT(second.heard(), IsEmpty());
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().dropped_log_lines, 2U);
}

/// Two sessions ask for the same once each, in our words: what the server says about one is not the other's.
TEST(Attribution, ASubscriptionThatWeMakeForASessionIsTheCauseOfWhatIsSaidAboutIt) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.connect();
  second.say(kInitialize);
  second.say(kInitialized);
  exchange.settle();
  second.heard();
  const auto say_about_it = [&](const std::string& method) {
    first.say(R"({"jsonrpc":"2.0","id":")" + method + R"(","method":"resources/)" + method +
              R"(","params":{"uri":"file:///of-the-first"}})");
    second.say(call(1));
    exchange.settle();
    exchange.server().say(log_line("file:///of-the-first"));
    exchange.settle();
    for (const std::string& line : exchange.server().heard()) {
      if (!json(line).as_object().contains("id")) continue;
      exchange.server().say(answer_to(line));
    }
    exchange.settle();
  };

  say_about_it("subscribe");
  say_about_it("unsubscribe");

  EXPECT_THAT(second.heard(), testing::Each(Not(HasSubstr("of-the-first"))));
}

TEST(Attribution, WhatASessionSetGoingBeforeItLeftIsNotTheOthers) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  const auto up = json(exchange.server().heard().at(0)).at("id").to_number<int>();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(up) + R"(,"result":{}})");
  exchange.settle();
  first.session.end(session::EndReason::InputClosed);
  exchange.settle();

  exchange.server().say(log_line("a job of the first goes on"));
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty());
}

TEST(Attribution, TheOnlySessionThatEverWasHearsAServerThatLogsByItself) {
  Exchange exchange;
  FakeClient& only = exchange.ready_client();
  exchange.server().say(log_line("hello"));
  exchange.settle();
  EXPECT_THAT(only.heard(), ElementsAre(HasSubstr("hello")));
}

TEST(Attribution, StderrOfASharedServerGoesToTheOnlySessionThatCanHaveCausedIt) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  exchange.server().complain("a banner\n");
  exchange.settle();
  EXPECT_EQ(first.errors, "a banner\n") << "nobody has asked it anything: it is about nobody";
  EXPECT_EQ(second.errors, "a banner\n");

  first.say(call(1));
  exchange.settle();
  exchange.server().complain("about the first\n");
  exchange.settle();
  EXPECT_THAT(first.errors, HasSubstr("about the first"));
  EXPECT_EQ(second.errors, "a banner\n");
  second.say(call(1));
  exchange.settle();
  exchange.server().complain("about one of them\n");
  exchange.settle();
  EXPECT_EQ(second.errors, "a banner\n");
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().kept_error_bytes, 18U);
}

TEST(Attribution, ACallThatWasAnsweredAMomentAgoIsStillAPossibleCause) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  const auto up = json(exchange.server().heard().at(0)).at("id").to_number<int>();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(up) + R"(,"result":{}})");
  exchange.settle();
  first.heard();
  second.say(call(1));
  exchange.settle();
  exchange.server().say(log_line("the first was served"));
  exchange.server().complain("the first was served\n");
  exchange.settle();
  EXPECT_THAT(first.heard(), IsEmpty());
  EXPECT_THAT(second.heard(), IsEmpty());
  EXPECT_EQ(second.errors, "");
}

/// Answers what the server was asked last; `text` is what follows the id.
void answer_last(Exchange& exchange, const std::string& text) {
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, Not(IsEmpty()));
  exchange.server().say(R"({"id":)" + boost::json::serialize(json(heard.back()).at("id")) + text + "}");
  exchange.settle();
}

void expect_that_nobody_hears_of_the_first(Exchange& exchange, FakeClient& second) {
  exchange.server().say(log_line("the first was served"));
  exchange.server().complain("the first was served\n");
  exchange.settle();
  EXPECT_THAT(second.heard(), testing::Each(Not(HasSubstr("the first"))));
  EXPECT_EQ(second.errors, "");
}

TEST(Attribution, ALateAnswerToACallThatWasTakenBackIsAnAnswerLikeAnyOther) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  const auto heard = exchange.server().heard();
  first.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  second.say(call(1));
  exchange.settle();
  exchange.server().say(answer_to(heard.at(0)));
  exchange.settle();
  ASSERT_EQ(exchange.pool.slots().front().router()->counters().late_answers, 1U);

  expect_that_nobody_hears_of_the_first(exchange, second);
}

TEST(Attribution, AnAnswerThatCannotBeReadIsAnAnswerLikeAnyOther) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  answer_last(exchange, R"(,"jsonrpc":"1.0","result":{})");
  ASSERT_EQ(exchange.pool.slots().front().router()->counters().lost_answers, 1U);
  second.say(call(1));
  exchange.settle();

  expect_that_nobody_hears_of_the_first(exchange, second);
}

TEST(Attribution, WhatWeAskedForASessionAndWasAnsweredAMomentAgoIsStillItsCause) {
  for (const char* const request : {R"("resources/subscribe","params":{"uri":"a:b"})",
                                    R"("logging/setLevel","params":{"level":"debug"})"}) {
    Exchange exchange;
    FakeClient& first = exchange.ready_client();
    FakeClient& second = exchange.ready_client();
    first.say(R"({"jsonrpc":"2.0","id":1,"method":)" + std::string(request) + "}");
    exchange.settle();
    answer_last(exchange, R"(,"jsonrpc":"2.0","result":{})");
    second.say(call(1));
    exchange.settle();

    expect_that_nobody_hears_of_the_first(exchange, second);
  }
}

TEST(Attribution, TheLastWordsOfAServerThatOneSessionUsedAreOnlyToldToThat) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  exchange.server().complain("a secret of the first\n");
  exchange.settle();
  exchange.server().exit(0x300);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.answer_handshake(exchange.server(1));
  exchange.settle();

  EXPECT_THAT(first.heard(), testing::Contains(HasSubstr("secret")));
  for (const std::string& line : second.heard()) EXPECT_THAT(line, Not(HasSubstr("secret")));
  for (const std::string& note : second.notes) EXPECT_THAT(note, Not(HasSubstr("secret")));
}

TEST(Attribution, WhatIsToldAgainToANewInstanceIsItsSessionsCause) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///secret"}})");
  exchange.settle();
  const auto up = json(exchange.server().heard().at(0)).at("id").to_number<int>();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(up) + R"(,"result":{}})");
  exchange.settle();
  exchange.server().exit(0x300);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.answer_handshake(exchange.server(1));
  exchange.settle();
  second.heard();
  second.errors.clear();
  second.say(call(1));
  exchange.settle();
  exchange.server(1).say(log_line("subscribing to file:///secret"));
  exchange.server(1).complain("subscribing to file:///secret\n");
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty());
  EXPECT_EQ(second.errors, "");
}

/// A new modern instance is asked for a list with what the client says of itself.
TEST(Attribution, WhoseListANewModernInstanceIsAskedForHasAskedIt) {
  Exchange exchange;
  exchange.spec->entry.modern = true;
  const auto answer_all = [&] {
    exchange.settle();
    FakeServer& server = exchange.spawner.servers.back();
    for (const std::string& line : server.heard()) {
      if (!json(line).as_object().contains("id")) continue;
      server.say(
          R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(line).at("id")) +
          R"(,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
          R"("ttlMs":0,"tools":[]}})");
    }
    exchange.settle();
  };
  const auto opened = [&]() -> FakeClient& {
    FakeClient& client = exchange.connect();
    client.say(kInitialize);
    answer_all();
    client.say(kInitialized);
    exchange.settle();
    return client;
  };
  FakeClient& first = opened();
  FakeClient& second = opened();
  first.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  answer_all();
  exchange.server().exit(0x300);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  answer_all();
  answer_all();
  second.heard();

  second.say(call(1));
  exchange.settle();
  exchange.server(1).complain("a secret of the first\n");
  exchange.settle();
  exchange.server(1).exit(0x300);
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 3; }));

  const auto heard = second.heard();
  EXPECT_THAT(heard, testing::Contains(HasSubstr("exited with code 3")));
  EXPECT_THAT(heard, testing::Each(Not(HasSubstr("secret"))));
}

TEST(Attribution, TheLastWordsOfAServerThatServedSeveralAreOnlyInItsLog) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call(1));
  exchange.settle();
  exchange.server().complain("a secret of the first\n");
  second.say(call(1));
  exchange.settle();
  exchange.server().exit(0x300);
  exchange.settle();

  const auto heard = second.heard();
  ASSERT_THAT(heard, Not(IsEmpty()));
  EXPECT_THAT(heard[0], AllOf(HasSubstr("exited with code 3"), HasSubstr("corral logs files")));
  EXPECT_THAT(heard[0], Not(HasSubstr("secret")));
}

TEST(Attribution, ASessionAtTheAddressOfOneThatEndedDoesNotHastenItsServer) {
  Exchange exchange(config::Share::Session);
  exchange.spec->key = knowledge::launch_key(exchange.spec->launch);
  std::optional<FakeClient> client;
  const auto begin = [&](std::uint64_t id) {
    client.reset();
    client.emplace(exchange.loop, SessionId(id), exchange.pool, exchange.spec, "");
    client->say(kInitialize);
    exchange.settle();
    exchange.answer_handshake(exchange.spawner.servers.back());
  };
  begin(1);
  client->session.end(session::EndReason::InputClosed);
  exchange.settle();
  begin(2);
  ASSERT_EQ(exchange.started(), 2U);

  client->session.end(session::EndReason::InputClosed);
  client->session.end(session::EndReason::ClientGone);
  exchange.settle();
  EXPECT_EQ(exchange.server(0).stops_told(), 0U);
  EXPECT_EQ(exchange.server(1).stops_told(), 1U);
}

}  // namespace
}  // namespace corral::tests
