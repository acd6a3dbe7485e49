// Which path and method lead where, and which session a request belongs to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "transport/fake_exchange.h"
#include "transport/http_endpoint.h"
#include "transport/http_request.h"

namespace corral::transport {
namespace {

using testing::HasSubstr;
using tests::json;

/// Opens every session and records the arrivals.
class RecordingOpener final : public HttpSessionOpener {
 public:
  std::variant<std::unique_ptr<session::Session>, HttpRefusal> open(const HttpArrival& arrival,
                                                                    session::Transport& transport) override {
    arrivals.push_back(arrival);
    auto spec = std::make_shared<pool::ServerSpec>(*daemon.spec);
    spec->account = &shares.account(arrival.principal);
    spec->key = knowledge::launch_key(spec->launch) + arrival.principal;
    return std::make_unique<session::Session>(daemon.loop, SessionId(arrivals.size()), transport, daemon.pool,
                                              std::move(spec));
  }
  std::optional<HttpRefusal> objection(const HttpArrival&) override { return std::nullopt; }
  void session_over(session::Session&) override { ++over; }
  void bound(session::Session&, pid_t) override {}
  Account& account(const std::string& principal) override { return shares.account(principal); }
  bool would_be_private(const HttpArrival&) override { return false; }
  const std::string& only_server() const override { return only; }

  Shares shares;
  tests::Exchange daemon;
  std::vector<HttpArrival> arrivals;
  int over = 0;
  std::string only;
};

class HttpWays : public testing::Test {
 protected:
  using Answer = std::shared_ptr<FakeExchange>;

  /// Null if the path is none of the endpoint's.
  Answer ask(http::Request request, const http::Principal& who = {"user", {}, {}}) {
    auto exchange = std::make_shared<FakeExchange>();
    kept_.push_back(exchange);
    const bool taken = endpoint_.handle(request, exchange, who);
    opener_.daemon.settle();
    for (tests::FakeServer& server : opener_.daemon.spawner.servers) opener_.daemon.answer_handshake(server);
    return taken ? exchange : nullptr;
  }
  static http::Request request(const std::string& method, const std::string& path, http::Headers more = {}) {
    http::Request request = json_post(tests::kInitialize, more);
    request.method = method;
    request.path = path;
    if (method == "GET") request.headers = {{"Accept", "text/event-stream"}};
    if (method == "GET") request.headers.insert(request.headers.end(), more.begin(), more.end());
    return request;
  }

  RecordingOpener opener_;
  std::vector<Answer> kept_;  // nobody hangs up
  HttpEndpoint endpoint_{opener_.daemon.loop, opener_, {}, std::chrono::minutes(30)};
};

TEST_F(HttpWays, LeadNowhereFromOtherPaths) {
  for (const char* path :
       {"/", "", "/mc", "/mcpx", "/mcpx/files", "/ssefiles", "/messagesx", "/api", "/x/mcp"})
    EXPECT_EQ(ask(request("POST", path)), nullptr) << path;
}

TEST_F(HttpWays, NeedTheNameOfAServer) {
  for (const char* path : {"/mcp", "/mcp/", "/sse", "/sse/", "/messages", "/messages/"}) {
    const Answer answer = ask(request("POST", path));
    ASSERT_NE(answer, nullptr) << path;
    EXPECT_EQ(answer->status, 404) << path;
    EXPECT_THAT(answer->body, HasSubstr("this URL does not name a server")) << path;
  }
  EXPECT_TRUE(opener_.arrivals.empty());
}

TEST_F(HttpWays, NeedNoNameWhereOneIsServedAlone) {
  opener_.only = "it";
  for (const char* path : {"/mcp", "/mcp/"}) EXPECT_EQ(ask(request("POST", path))->status, 200) << path;
  ASSERT_EQ(opener_.arrivals.size(), 2U);
  EXPECT_EQ(opener_.arrivals[1].server, "it");
}

TEST_F(HttpWays, SayWhichServerAndWhichRootAndWhoAsks) {
  http::Request asked = request("POST", "/mcp/two%20words");
  asked.query = "a=b&root=%2Fhome";
  EXPECT_EQ(ask(asked, {"token:a", {}, {"/home"}})->status, 200);
  ASSERT_EQ(opener_.arrivals.size(), 1U);
  EXPECT_EQ(opener_.arrivals[0].server, "two words");
  EXPECT_EQ(opener_.arrivals[0].root, "/home");
  EXPECT_EQ(opener_.arrivals[0].principal, "token:a");
  EXPECT_EQ(opener_.arrivals[0].transport, "http");
  EXPECT_EQ(opener_.arrivals[0].roots, std::vector<std::string>{"/home"});
}

TEST_F(HttpWays, AreOpenToATokenForItsServersOnly) {
  const http::Principal limited{"token:a", {"files"}, {}};
  EXPECT_EQ(ask(request("POST", "/mcp/files"), limited)->status, 200);
  const Answer refused = ask(request("POST", "/mcp/other"), limited);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->status, 403);
  EXPECT_THAT(refused->body, HasSubstr("corral token create NAME --server other"));
}

struct WrongMethod {
  const char* method;
  const char* path;
  const char* allowed;
};

TEST_F(HttpWays, NameTheMethodsThatAreServed) {
  for (const WrongMethod& one :
       {WrongMethod{"PUT", "/mcp/files", "POST, GET, DELETE"},
        WrongMethod{"HEAD", "/mcp/files", "POST, GET, DELETE"}, WrongMethod{"POST", "/sse/files", "GET"},
        WrongMethod{"DELETE", "/sse/files", "GET"}, WrongMethod{"GET", "/messages/files", "POST"}}) {
    const Answer answer = ask(request(one.method, one.path));
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->status, 405) << one.method << one.path;
    EXPECT_EQ(answer->header("Allow"), one.allowed);
    EXPECT_THAT(answer->body,
                HasSubstr(std::string(one.method) + " is not supported here; use " + one.allowed));
  }
}

TEST_F(HttpWays, EndASessionThatIsDeleted) {
  const std::string key = ask(request("POST", "/mcp/files"))->header("Mcp-Session-Id");
  ASSERT_NE(key, "");
  const http::Headers named = {{"Mcp-Session-Id", key}};
  EXPECT_EQ(ask(request("DELETE", "/mcp/other", named))->status, 404) << "of another server";
  EXPECT_EQ(ask(request("DELETE", "/mcp/files", named), {"token:a", {}, {}})->status, 404) << "another's";
  EXPECT_EQ(ask(request("DELETE", "/mcp/files", {{"Mcp-Session-Id", "unknown"}}))->status, 404);
  EXPECT_EQ(ask(request("GET", "/mcp/files", {{"Mcp-Session-Id", "unknown"}}))->status, 404);
  EXPECT_EQ(ask(request("DELETE", "/mcp/files", named))->status, 204);
  EXPECT_EQ(ask(request("DELETE", "/mcp/files", named))->status, 404) << "it is gone";
}

TEST_F(HttpWays, OfTheOldKindGiveAStreamAndAPlaceToPost) {
  const Answer stream = ask(request("GET", "/sse/files"));
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->status, 200);
  ASSERT_EQ(opener_.arrivals.size(), 1U);
  EXPECT_EQ(opener_.arrivals[0].transport, "sse");
  const std::string begin = "event: endpoint\ndata: /messages/files?sessionId=";
  ASSERT_TRUE(stream->body.starts_with(begin)) << stream->body;
  const std::string key =
      stream->body.substr(begin.size(), stream->body.find('\n', begin.size()) - begin.size());

  http::Request message = request("POST", "/messages/files");
  message.query = "sessionId=" + key;
  EXPECT_EQ(ask(message)->status, 202);
  EXPECT_THAT(stream->body, HasSubstr("event: message"));
  message.query = "sessionId=unknown";
  EXPECT_EQ(ask(message)->status, 404);
  message.query = "sessionId=" + key;
  EXPECT_EQ(ask(message, {"token:a", {}, {}})->status, 404) << "another's";
  message.body = std::make_shared<const std::string>("nonsense");
  EXPECT_EQ(ask(message)->status, 400);
  EXPECT_EQ(ask(request("GET", "/mcp/files", {{"Mcp-Session-Id", key}}))->status, 404) << "of the other kind";
}

}  // namespace
}  // namespace corral::transport
