#include "transport/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "transport/fake_exchange.h"
#include "transport/http_request.h"

namespace corral::transport {
namespace {

using testing::HasSubstr;
using tests::kInitialize;

/// One server, whose process is two pipe ends.
class OneServerOpener final : public HttpSessionOpener {
 public:
  std::variant<std::unique_ptr<session::Session>, HttpRefusal> open(const HttpArrival& arrival,
                                                                    session::Transport& transport) override {
    auto spec = std::make_shared<pool::ServerSpec>(*daemon.spec);
    spec->account = &shares.account(arrival.principal);
    spec->key = knowledge::launch_key(spec->launch) + arrival.principal;
    return std::make_unique<session::Session>(daemon.loop, SessionId(++last_), transport, daemon.pool,
                                              std::move(spec));
  }
  std::optional<HttpRefusal> objection(const HttpArrival& arrival) override {
    if (arrival.principal == "user" || arrival.root != taken_away) return std::nullopt;
    return HttpRefusal{403, -32600, "this root was taken away", "", ""};
  }
  void session_over(session::Session&) override { ++over; }
  void bound(session::Session&, pid_t) override {}
  Account& account(const std::string& principal) override { return shares.account(principal); }
  bool would_be_private(const HttpArrival&) override { return false; }
  const std::string& only_server() const override { return none_; }

  Shares shares;
  tests::Exchange daemon;
  int over = 0;
  std::string taken_away = "none";

 private:
  std::uint64_t last_ = 0;
  const std::string none_;
};

class HttpEndpointTest : public testing::Test {
 protected:
  std::shared_ptr<FakeExchange> send(http::Request request, const std::string& principal) {
    auto exchange = std::make_shared<FakeExchange>();
    endpoint.handle(request, exchange, {principal, {}, {}});
    opener.daemon.settle();
    for (tests::FakeServer& server : opener.daemon.spawner.servers) opener.daemon.answer_handshake(server);
    return exchange;
  }
  std::shared_ptr<FakeExchange> initialize(const std::string& principal) {
    return send(json_post(kInitialize), principal);
  }
  /// What a message in a session is answered with.
  int status_in(const std::string& session, const std::string& principal) {
    return send(json_post(tests::kInitialized, {{"Mcp-Session-Id", session}}), principal)->status;
  }
  std::shared_ptr<FakeExchange> listen(const std::string& session, const std::string& principal) {
    http::Request request = bare_post("", {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}});
    request.method = "GET";
    return send(std::move(request), principal);
  }

  OneServerOpener opener;
  HttpEndpoint endpoint{opener.daemon.loop, opener, {}, std::chrono::minutes(30)};
};

TEST_F(HttpEndpointTest, ATokenThatOpensManySessionsLosesOnlyItsOwnOldest) {
  opener.shares.set_most(Good::Sessions, 8);  // 2 for one token
  const std::string users = initialize("user")->header("Mcp-Session-Id");
  const std::string first = initialize("token:a")->header("Mcp-Session-Id");
  const std::string second = initialize("token:a")->header("Mcp-Session-Id");
  EXPECT_EQ(status_in(first, "token:a"), 202) << "so the second is the one that was unused for longest";

  const auto third = initialize("token:a");

  EXPECT_EQ(third->status, 200) << third->body;
  EXPECT_EQ(status_in(second, "token:a"), 404);
  EXPECT_EQ(status_in(first, "token:a"), 202);
  EXPECT_EQ(status_in(users, "user"), 202);
  EXPECT_EQ(opener.shares.account("token:a").used(Good::Sessions), 2U);
  EXPECT_EQ(opener.over, 1);
}

TEST_F(HttpEndpointTest, ATokenIsRefusedWhenItsSessionsAreAllInUseAndTheUserIsNot) {
  opener.shares.set_most(Good::Sessions, 8);
  std::vector<std::shared_ptr<FakeExchange>> streams;
  for (const char* token : {"token:a", "token:b", "token:c"}) {
    for (int i = 0; i < 2; ++i) {
      streams.push_back(listen(initialize(token)->header("Mcp-Session-Id"), token));
      ASSERT_EQ(streams.back()->status, 200) << streams.back()->body;
    }
  }

  const auto refused = initialize("token:a");
  const auto other = initialize("token:d");

  EXPECT_EQ(refused->status, 503);
  EXPECT_THAT(refused->body, HasSubstr("one token may hold at most 2 sessions"));
  EXPECT_EQ(other->status, 503);
  EXPECT_THAT(other->body, HasSubstr("all tokens together may hold at most 6 sessions"));
  EXPECT_EQ(initialize("user")->status, 200) << "no token can take the user's part";
  EXPECT_EQ(initialize("user")->status, 200);
  streams.clear();
}

TEST_F(HttpEndpointTest, ASessionWhoseClientIsBetweenTwoConnectionsIsInUse) {
  opener.shares.set_most(Good::Sessions, 8);  // 2 for one token
  const std::string session = initialize("token:a")->header("Mcp-Session-Id");
  ASSERT_EQ(status_in(session, "token:a"), 202);
  tests::FakeServer& server = opener.daemon.spawner.servers.back();
  server.heard();
  const auto lost = send(json_post(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}})",
                                   {{"Mcp-Session-Id", session}}),
                         "token:a");
  opener.daemon.settle();
  lost->hang_up();
  opener.daemon.settle();
  listen(initialize("token:a")->header("Mcp-Session-Id"), "token:a")->hang_up();

  EXPECT_EQ(initialize("token:a")->status, 200) << "the other one was unused";
  EXPECT_EQ(status_in(session, "token:a"), 202) << "its call is in flight";
}

TEST_F(HttpEndpointTest, ASessionThatKeepsAnAnswerForItsClientIsInUse) {
  opener.shares.set_most(Good::Sessions, 8);
  const std::string session = initialize("token:a")->header("Mcp-Session-Id");
  ASSERT_EQ(status_in(session, "token:a"), 202);
  tests::FakeServer& server = opener.daemon.spawner.servers.back();
  server.heard();
  const auto lost = std::make_shared<FakeExchange>();
  endpoint.handle(json_post(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t",)"
                            R"("_meta":{"progressToken":5}}})",
                            {{"Mcp-Session-Id", session}}),
                  lost, {"token:a", {}, {}});
  opener.daemon.settle();
  const auto asked = server.heard();
  ASSERT_EQ(asked.size(), 1U);
  const std::string id = boost::json::serialize(tests::json(asked[0]).at("id"));
  server.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + id +
             R"(,"progress":1}})");
  opener.daemon.settle();
  ASSERT_EQ(lost->status, 200) << "it has an event to name when it comes back";
  lost->hang_up();
  server.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  opener.daemon.settle();
  initialize("token:a");

  EXPECT_EQ(initialize("token:a")->status, 200);
  EXPECT_EQ(status_in(session, "token:a"), 202) << "its client may come for the answer";
}

TEST_F(HttpEndpointTest, ASessionWhoseRootIsTakenAwayEnds) {
  const auto begin = [this](const std::string& root, const std::string& principal) {
    http::Request request = json_post(kInitialize);
    request.query = "root=" + root;
    return send(std::move(request), principal)->header("Mcp-Session-Id");
  };
  const std::string kept = begin("/kept", "token:a");
  const std::string lost = begin("/lost", "token:a");
  const std::string users = begin("/lost", "user");
  ASSERT_EQ(status_in(lost, "token:a"), 202);

  opener.taken_away = "/lost";

  EXPECT_EQ(status_in(lost, "token:a"), 404) << "whatever root the URL names now";
  EXPECT_EQ(status_in(kept, "token:a"), 202);
  EXPECT_EQ(status_in(users, "user"), 202);
  opener.taken_away = "none";
  EXPECT_EQ(status_in(lost, "token:a"), 404) << "it is over";
}

TEST_F(HttpEndpointTest, AnUnusedSessionIsFoundBehindManyThatAreInUse) {
  opener.shares.set_most(Good::Sessions, 400);  // 100 for one token
  std::vector<std::shared_ptr<FakeExchange>> streams;
  for (int i = 0; i < 80; ++i)
    streams.push_back(listen(initialize("token:a")->header("Mcp-Session-Id"), "token:a"));
  for (int i = 0; i < 20; ++i) initialize("token:a");

  bool taken = false;
  for (int i = 0; i < 2; ++i) taken = taken || initialize("token:a")->status == 200;

  EXPECT_TRUE(taken) << "at the second look at the latest";
  streams.clear();
}

TEST_F(HttpEndpointTest, ThousandsOfSessionsOfATokenLeaveTheUserAllThatItNeeds) {
  for (int i = 0; i < 5000; ++i) initialize("token:flood");

  EXPECT_LE(opener.shares.account("token:flood").used(Good::Sessions),
            opener.shares.quota(Good::Sessions).token);
  EXPECT_EQ(initialize("user")->status, 200);
}

TEST_F(HttpEndpointTest, ASessionThatHasEndedIsCountedNoMore) {
  const std::string session = initialize("token:a")->header("Mcp-Session-Id");
  http::Request request = bare_post("", {{"Mcp-Session-Id", session}});
  request.method = "DELETE";

  EXPECT_EQ(send(std::move(request), "token:a")->status, 204);

  EXPECT_EQ(opener.shares.account("token:a").used(Good::Sessions), 0U);
}

/// Whose connection it is can be told by its machine here; on this machine by its process.
TEST_F(HttpEndpointTest, AProgramThatLeavesItsRequestsOpenLeavesRoomForAnother) {
  std::vector<std::shared_ptr<FakeExchange>> open;
  const auto call_from = [&](const std::string& address) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->who.address = address;
    const http::Headers name = {{"Mcp-Name", "t"}};
    endpoint.handle(modern_post("tools/call", R"(,"name":"t")", name), exchange, {"token:a", {}, {}});
    opener.daemon.settle();
    for (tests::FakeServer& server : opener.daemon.spawner.servers) opener.daemon.answer_handshake(server);
    open.push_back(exchange);
    return exchange->status;
  };
  int refused = 0;
  for (int i = 0; i < 500; ++i) refused += call_from("10.0.0.1:" + std::to_string(1000 + i)) == 429 ? 1 : 0;

  EXPECT_GT(refused, 100) << "it has its own limit";
  EXPECT_EQ(call_from("10.0.0.2:1"), 0) << "which is not the other's: its call is open";
}

TEST_F(HttpEndpointTest, NotesOfOneClientDoNotFillTheLog) {
  const std::string session = initialize("token:a")->header("Mcp-Session-Id");
  testing::internal::CaptureStderr();

  for (int i = 0; i < 1000; ++i) {
    send(json_post(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"result":{}})",
                   {{"Mcp-Session-Id", session}}),
         "token:a");
  }

  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("a question that is not open"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
}

}  // namespace
}  // namespace corral::transport
