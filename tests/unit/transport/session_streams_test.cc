#include "transport/session_streams.h"

#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "transport/fake_exchange.h"

namespace corral::transport {
namespace {

using namespace std::chrono_literals;
using Client = std::shared_ptr<FakeExchange>;

constexpr std::string_view kListChanged = "notifications/tools/list_changed";
constexpr std::string_view kLog = "notifications/message";

class SessionStreamsTest : public testing::Test {
 protected:
  OpenPost& open(const std::string& id, const std::string& token = "") { return streams.open({{id, token}}); }
  static Client connect(EventStream& stream) {
    auto client = std::make_shared<FakeExchange>();
    stream.attach(client);
    return client;
  }
  void pass(Clock::duration time) {
    clock.pass(time);
    loop.run_due();
  }

  tests::HeldClock clock;
  Loop loop;
  HttpLimits limits;
  SessionStreams streams{loop, "the-session", limits};
};

TEST_F(SessionStreamsTest, FindThePostOfAnAnswerAndOfItsProgress) {
  OpenPost& one = open("1", "\"a\"");
  OpenPost& two = open("\"1\"", "7");
  EXPECT_EQ(streams.awaiting("1"), &one);
  EXPECT_EQ(streams.awaiting("\"1\""), &two);
  EXPECT_EQ(streams.awaiting("2"), nullptr);
  EXPECT_EQ(streams.with_token("7"), &two);
  EXPECT_EQ(streams.with_token("a"), nullptr);
  EXPECT_EQ(streams.post(two.stream.number()), &two);
  EXPECT_EQ(streams.find(two.stream.number()), &two.stream);
  EXPECT_EQ(streams.find(0), &streams.get());
  EXPECT_EQ(streams.post(0), nullptr);
  EXPECT_EQ(streams.batch(), nullptr);
  two.batch = true;
  EXPECT_EQ(streams.batch(), &two);
  EXPECT_EQ(streams.open_requests(), 2U);
  streams.forget(one);
  EXPECT_EQ(streams.awaiting("1"), nullptr);
  EXPECT_EQ(streams.open_requests(), 1U);
}

TEST_F(SessionStreamsTest, NumberTheStreamsOfPostsOnlyOnce) {
  const std::uint64_t first = open("1").stream.number();
  streams.forget(*streams.post(first));
  EXPECT_GT(open("2").stream.number(), first);
}

TEST_F(SessionStreamsTest, SendNewsToTheGetAndTheRestToTheOnlyPostThatIsConnected) {
  OpenPost& post = open("1");
  EXPECT_EQ(streams.stream_for(kLog), nullptr) << "no client can receive it";
  const Client listener = connect(streams.get());
  EXPECT_EQ(streams.stream_for(kLog), &streams.get());
  const Client caller = connect(post.stream);
  EXPECT_EQ(streams.stream_for(kLog), &post.stream);
  EXPECT_EQ(streams.stream_for(kListChanged), &streams.get());
  OpenPost& other = open("2");
  const Client second = connect(other.stream);
  EXPECT_EQ(streams.stream_for(kLog), &streams.get()) << "it could belong to either";
  streams.get().disconnect();
  EXPECT_EQ(streams.stream_for(kLog), &other.stream) << "the newest";
  EXPECT_EQ(streams.connected(), 2U);
}

TEST_F(SessionStreamsTest, KeepAMessageForTheOnlyPostThatCanBeResumed) {
  OpenPost& post = open("1");
  const Client caller = connect(post.stream);
  streams.allow_priming();
  streams.begin(post);
  post.stream.disconnect();
  EXPECT_EQ(streams.stream_for(kLog), &post.stream);
  open("2");
  EXPECT_EQ(streams.stream_for(kLog), nullptr);
}

TEST_F(SessionStreamsTest, TellTheSessionIdWithTheStreamOfInitialize) {
  OpenPost& call = open("1");
  const Client caller = connect(call.stream);
  streams.begin(call);
  EXPECT_EQ(caller->header("Mcp-Session-Id"), "");
  EXPECT_FALSE(streams.client_knows_id());
  OpenPost& initialize = open("0");
  initialize.initialize = true;
  const Client client = connect(initialize.stream);
  streams.begin(initialize);
  EXPECT_EQ(client->header("Mcp-Session-Id"), "the-session");
  EXPECT_TRUE(streams.client_knows_id());
}

TEST_F(SessionStreamsTest, BeginAStreamWhenTheAnswerTakesLong) {
  OpenPost& post = open("1");
  const Client caller = connect(post.stream);
  streams.hold(post);
  pass(limits.hold - 1ms);
  EXPECT_EQ(caller->status, 0);
  pass(1ms);
  EXPECT_EQ(caller->status, 200);
  EXPECT_EQ(caller->body, ":\n\n");
}

TEST_F(SessionStreamsTest, WriteACommentToASilentStreamOfAClientThatReads) {
  const Client listener = connect(streams.get());
  streams.begin_get();
  pass(limits.alive);
  EXPECT_EQ(listener->body, ":\n\n");
  listener->waiting = 1;
  pass(limits.alive);
  EXPECT_EQ(listener->body, ":\n\n") << "it does not read";
  EXPECT_EQ(streams.queued(), 1U);
  listener->waiting = 0;
  streams.stop();
  pass(limits.alive * 3);
  EXPECT_EQ(listener->body, ":\n\n") << "the session has ended";
}

}  // namespace
}  // namespace corral::transport
