// In which order a request is checked, and where it goes.
#include "daemon/http_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"
#include "transport/fake_exchange.h"
#include "transport/http_request.h"

namespace corral::daemon {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using transport::FakeExchange;

constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

class HttpFrontTest : public testing::Test {
 protected:
  static http::AccessRules rules() {
    http::AccessRules rules;
    rules.port = 8765;
    rules.origins = {"https://app.example"};
    return rules;
  }

  /// By our own user, from this machine, unless `change` says otherwise.
  std::shared_ptr<FakeExchange> ask(const std::string& method, const std::string& path,
                                    const std::function<void(http::Request&, http::Peer&)>& change = {}) {
    http::Peer peer;
    peer.ours = true;
    http::Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"Host", "localhost:8765"}};
    request.body = std::make_shared<const std::string>();
    if (change) change(request, peer);
    request.peer = std::make_shared<const http::Peer>(peer);
    const auto exchange = std::make_shared<FakeExchange>();
    exchange->who = peer;
    front.handle(request, exchange);
    daemon.settle();
    return exchange;
  }
  std::shared_ptr<FakeExchange> ask_as_stranger(const std::string& method, const std::string& path,
                                                const std::string& token = {}) {
    return ask(method, path, [&token](http::Request& request, http::Peer& peer) {
      peer.ours = false;
      if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
    });
  }
  const std::vector<http::Token>& current_tokens() {
    ++tokens_read;
    return tokens;
  }

  DaemonInMemory daemon;
  std::vector<http::Token> tokens;
  int tokens_read = 0;
  transport::HttpEndpoint endpoint{daemon.loop, daemon.hub, {}, std::chrono::minutes(30)};
  HttpFront front{daemon.hub, endpoint, rules(), [this]() -> auto& {return current_tokens();
}
};  // namespace
};  // namespace corral::daemon

// ---- who may ask

TEST_F(HttpFrontTest, AnotherHostIsForbiddenOnEveryPath) {
  for (const char* path : {"/healthz", "/readyz", "/metrics", "/api/v1/info", "/mcp/files", "/nothing"}) {
    const auto exchange = ask("GET", path, [](http::Request& request, http::Peer&) {
      request.headers = {{"Host", "evil.example:8765"}};
    });
    EXPECT_EQ(exchange->status, 403) << path;
  }
}

TEST_F(HttpFrontTest, AnotherUserNeedsATokenExceptForHealth) {
  for (const char* path : {"/metrics", "/api/v1/info", "/mcp/files", "/sse/files", "/nothing"}) {
    const auto exchange = ask_as_stranger("GET", path);
    EXPECT_EQ(exchange->status, 401) << path;
    EXPECT_EQ(exchange->header("WWW-Authenticate"), "Bearer") << path;
  }
  EXPECT_EQ(ask_as_stranger("GET", "/healthz")->status, 200);
  EXPECT_EQ(ask_as_stranger("GET", "/readyz")->status, 200);
}

TEST_F(HttpFrontTest, AcceptsAValidTokenAndNoOther) {
  tokens = {{"ci", kSecret, {}}};

  EXPECT_EQ(ask_as_stranger("GET", "/api/v1/servers", kSecret)->status, 200);
  EXPECT_EQ(ask_as_stranger("GET", "/api/v1/servers", std::string(32, 'x'))->status, 401);
}

TEST_F(HttpFrontTest, TheFileOfTokensIsReadOnlyForThoseWhoShowOne) {
  ask("GET", "/healthz");
  ask_as_stranger("GET", "/mcp/files");
  EXPECT_EQ(tokens_read, 0);

  ask_as_stranger("GET", "/mcp/files", kSecret);
  EXPECT_EQ(tokens_read, 1);
}

TEST_F(HttpFrontTest, WhatIsRefusedByItsHeadIsRefusedEarly) {
  http::Request head;
  head.method = "POST";
  head.path = "/mcp/files";
  head.headers = {{"Host", "localhost:8765"}};
  head.peer = std::make_shared<const http::Peer>();

  const auto stranger = front.refuse_early(head);
  http::Peer own;
  own.ours = true;
  head.peer = std::make_shared<const http::Peer>(own);

  ASSERT_TRUE(stranger);
  EXPECT_EQ(stranger->status, 401);
  EXPECT_FALSE(front.refuse_early(head));
}

// ---- browsers

TEST_F(HttpFrontTest, APageThatIsListedMayAskBeforeItAsks) {
  const auto exchange = ask("OPTIONS", "/mcp/files", [](http::Request& request, http::Peer& peer) {
    peer.ours = false;
    request.headers.push_back({"Origin", "https://app.example"});
    request.headers.push_back({"Access-Control-Request-Method", "POST"});
  });

  EXPECT_EQ(exchange->status, 204);
  EXPECT_EQ(exchange->header("Access-Control-Allow-Origin"), "https://app.example");
}

TEST_F(HttpFrontTest, APageThatIsNotListedGetsNothing) {
  const auto exchange = ask("GET", "/healthz", [](http::Request& request, http::Peer&) {
    request.headers.push_back({"Origin", "https://evil.example"});
  });

  EXPECT_EQ(exchange->status, 403);
  EXPECT_EQ(exchange->header("Access-Control-Allow-Origin"), "");
}

TEST_F(HttpFrontTest, OptionsWithoutAPageNamesTheMethods) {
  EXPECT_EQ(ask("OPTIONS", "/mcp/files")->header("Allow"), "GET, POST, DELETE, OPTIONS");
  EXPECT_EQ(ask("OPTIONS", "/healthz")->status, 405);
}

// ---- health

TEST_F(HttpFrontTest, HealthIsOnlyRead) {
  for (const char* path : {"/healthz", "/readyz"}) {
    EXPECT_EQ(ask("HEAD", path)->status, 200) << path;
    EXPECT_EQ(ask("POST", path)->status, 405) << path;
    EXPECT_EQ(ask("POST", path)->header("Allow"), "GET, HEAD") << path;
  }
}

TEST_F(HttpFrontTest, ReadinessNamesServersOnlyToThoseWhoMayUseThem) {
  tokens = {{"ci", kSecret, {"notes"}}};
  daemon.ask(control::Verb::Stop, "files");

  EXPECT_EQ(ask("GET", "/readyz")->status, 503);
  EXPECT_THAT(ask("GET", "/readyz")->body, HasSubstr(R"("name":"files","ready":false)"));
  EXPECT_THAT(ask_as_stranger("GET", "/readyz")->body, Not(HasSubstr("files")));
  EXPECT_THAT(ask_as_stranger("GET", "/readyz", kSecret)->body, Not(HasSubstr("files")));
}

TEST_F(HttpFrontTest, ABrokenConfigurationIsNotReadyAndSaysWhyToTheUser) {
  daemon.file_problem = "corral.json:1:1: this is not JSON.";
  daemon.hub.reload("test", {});

  EXPECT_EQ(ask("GET", "/readyz")->status, 503);
  EXPECT_THAT(ask("GET", "/readyz")->body, HasSubstr("this is not JSON"));
  EXPECT_THAT(ask_as_stranger("GET", "/readyz")->body, Not(HasSubstr("this is not JSON")));
}

TEST_F(HttpFrontTest, ADaemonThatShutsDownIsAliveAndNotReady) {
  daemon.hub.drain([](const Drained&) {});

  EXPECT_EQ(ask("GET", "/healthz")->status, 200);
  EXPECT_EQ(ask("GET", "/readyz")->status, 503);
  EXPECT_THAT(ask("GET", "/readyz")->body, HasSubstr("the daemon is shutting down"));
}

// ---- where it goes

TEST_F(HttpFrontTest, AnMcpRequestReachesItsServer) {
  const auto exchange = ask("POST", "/mcp/files", [](http::Request& request, http::Peer&) {
    request = transport::json_post(tests::kInitialize, {{"Host", "localhost:8765"}});
  });
  daemon.answer_handshake();

  EXPECT_EQ(exchange->status, 200);
  EXPECT_THAT(exchange->body, HasSubstr(R"("name":"fake")"));
  EXPECT_EQ(daemon.hub.snapshots().now().sessions.at(0).transport, "http");
}

TEST_F(HttpFrontTest, AnUnknownServerIsNotFound) {
  const auto exchange = ask("POST", "/mcp/fils", [](http::Request& request, http::Peer&) {
    request = transport::json_post(tests::kInitialize, {{"Host", "localhost:8765"}});
    request.path = "/mcp/fils";
  });

  EXPECT_EQ(exchange->status, 404);
  EXPECT_THAT(exchange->body, HasSubstr("perhaps 'files'"));
}

TEST_F(HttpFrontTest, WhatOnlyBeginsLikeAPathIsNotFound) {
  for (const char* path : {"/", "/mcpx", "/sset", "/messagesx", "/api/v1", "/api/v2/info", "/metricsx",
                           "/healthz/", "/readyzz"}) {
    const auto exchange = ask("GET", path);
    EXPECT_EQ(exchange->status, 404) << path;
    EXPECT_THAT(exchange->body, HasSubstr("unknown path")) << path;
  }
}

}  // namespace
}  // namespace corral::daemon
