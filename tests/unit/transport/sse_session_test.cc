// HTTP+SSE: one stream down, a POST for every message up.
#include "transport/streamable_fixture.h"

namespace corral::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class Sse : public testing::Test {
 protected:
  void start() {
    exchange.spec->key = knowledge::launch_key(exchange.spec->launch);
    transport = std::make_unique<SseSession>(exchange.loop, stream, "/messages/files?sessionId=x", limits,
                                             [this](HttpSession&) { ++gone; });
    transport->begin(std::make_unique<session::Session>(exchange.loop, SessionId(1), *transport,
                                                        exchange.pool, exchange.spec));
  }
  void ready() {
    start();
    post(tests::kInitialize);
    exchange.answer_handshake(exchange.server());
    post(tests::kInitialized);
    exchange.server().heard();
  }
  HttpReply post(const std::string& text) {
    auto reply = std::make_shared<FakeExchange>();
    transport->post(reply, posted(text));
    exchange.settle();
    return reply;
  }

  tests::Exchange exchange{config::Share::Session};
  HttpLimits limits;
  HttpReply stream = std::make_shared<FakeExchange>();
  std::unique_ptr<SseSession> transport;
  int gone = 0;
};

TEST_F(Sse, BeginsWithTheEndpoint) {
  start();
  EXPECT_EQ(stream->status, 200);
  EXPECT_EQ(stream->header("Content-Type"), "text/event-stream");
  EXPECT_EQ(stream->body, "event: endpoint\ndata: /messages/files?sessionId=x\n\n");
}

TEST_F(Sse, AcceptsAPostAndAnswersOnTheStream) {
  start();
  const HttpReply reply = post(tests::kInitialize);
  EXPECT_EQ(reply->status, 202);
  EXPECT_EQ(reply->body, "Accepted");
  exchange.answer_handshake(exchange.server());
  const auto events = events_of(stream->body);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[1].name, "message");
  EXPECT_EQ(events[1].id, "");
  EXPECT_EQ(json(events[1].data).at("id"), 0);
}

TEST_F(Sse, PassesAMessageWithALineEndInItOn) {
  ready();
  exchange.server().say("{\"jsonrpc\":\"2.0\",\r\"method\":\"notifications/message\",\"params\":{}}");
  exchange.settle();
  EXPECT_EQ(events_of(stream->body).back().data,
            R"({"jsonrpc":"2.0", "method":"notifications/message","params":{}})");
}

TEST_F(Sse, EndsWithItsStream) {
  ready();
  stream->hang_up();
  exchange.settle();
  EXPECT_TRUE(transport->session().ended());
  EXPECT_EQ(transport->in_use(), 0U);
  EXPECT_EQ(post(call("1"))->status, 404);
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(gone, 1);
}

TEST_F(Sse, EndsItsStreamWithTheSession) {
  ready();
  transport->session().end(session::EndReason::SessionEnded);
  EXPECT_TRUE(stream->over);
}

TEST_F(Sse, KeepsASilentStreamAlive) {
  limits.alive = std::chrono::milliseconds(1);
  start();
  const std::size_t before = stream->body.size();
  ASSERT_TRUE(exchange.until([&] { return stream->body.size() > before; }));
  EXPECT_EQ(stream->body.substr(before, 3), ":\n\n");
}

TEST_F(Sse, LetsPostsWaitForAClientThatDoesNotRead) {
  ready();
  stream->slow = true;
  for (int i = 0; i < 20 && !transport->congested(); ++i) {
    exchange.server().say(log_message(std::string(60'000, 'x')));
    exchange.settle();
  }
  EXPECT_TRUE(transport->congested());
  const HttpReply reply = post(call("1"));
  EXPECT_EQ(reply->status, 0);
  stream->slow = false;
  stream->drain();
  exchange.settle();
  EXPECT_FALSE(transport->congested());
  EXPECT_EQ(reply->status, 202);
}

TEST_F(Sse, APostThatIsTakenBackWhileItWaitsNeverReachesTheServer) {
  ready();
  transport->pause();
  const HttpReply first = post(call("1"));
  const HttpReply second = post(call("2"));
  EXPECT_EQ(first->status, 0);

  const HttpReply cancellation = post(cancelled("1"));
  EXPECT_EQ(cancellation->status, 202);
  EXPECT_EQ(first->status, 202) << "the POST is accepted, as any; the call is not answered";
  transport->resume();
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("tools/call")));
  EXPECT_EQ(second->status, 202);
}

TEST_F(Sse, RefusesAPostThatIsNotAMessage) {
  ready();
  for (const std::string text : {"nonsense", "{}", R"({"jsonrpc":"2.0","id":7})"}) {
    const HttpReply reply = post(text);
    EXPECT_EQ(reply->status, 400) << text;
    EXPECT_THAT(reply->body, HasSubstr("Invalid Request: ")) << text;
    EXPECT_THAT(reply->body, HasSubstr("-32600")) << text;
  }
  EXPECT_THAT(exchange.server().heard(), testing::IsEmpty());
  EXPECT_FALSE(transport->session().ended());
  EXPECT_EQ(transport->in_use(), 1U);
}

TEST_F(Sse, KeepsOnlySoManyPostsThatWait) {
  limits.waiting = 2;
  ready();
  transport->pause();
  const HttpReply first = post(call("1"));
  const HttpReply second = post(call("2"));
  const HttpReply third = post(call("3"));
  EXPECT_EQ(third->status, 503);
  EXPECT_EQ(third->header("Retry-After"), "1");
  EXPECT_EQ(json(third->body).at("id"), 3);
  EXPECT_THAT(third->body, HasSubstr("the server has not caught up with this session's messages"));

  first->hang_up();
  transport->resume();
  exchange.settle();
  EXPECT_EQ(first->status, 0) << "nobody waits for it any more";
  EXPECT_EQ(second->status, 202);
  EXPECT_THAT(exchange.server().heard(), SizeIs(2)) << "but it was said";
}

TEST_F(Sse, RefusesWhatWaitsWhenItsStreamEnds) {
  ready();
  transport->pause();
  const HttpReply waiting = post(call("1"));
  stream->hang_up();
  exchange.settle();
  EXPECT_EQ(waiting->status, 404);
  EXPECT_EQ(json(waiting->body).at("id"), 1);
  EXPECT_THAT(waiting->body, HasSubstr("the session ended with its stream"));
}

}  // namespace
}  // namespace corral::transport
