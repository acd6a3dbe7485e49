// What can be read of the daemon by HTTP, and who may read it.
#include "daemon/http_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"
#include "transport/fake_exchange.h"

namespace corral::daemon {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using transport::FakeExchange;

class HttpApiTest : public testing::Test {
 protected:
  std::shared_ptr<FakeExchange> ask(const std::string& path, const std::string& query = {},
                                    const std::string& method = "GET",
                                    const http::Principal& who = {"user", {}}) {
    http::Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.body = std::make_shared<const std::string>();
    request.peer = std::make_shared<const http::Peer>();
    const auto exchange = std::make_shared<FakeExchange>();
    api.answer(request, exchange, who);
    return exchange;
  }

  DaemonInMemory daemon;
  HttpApi api{daemon.hub.snapshots(), daemon.records};
};

TEST_F(HttpApiTest, KnowsItsPaths) {
  for (const char* path : {"/metrics", "/api/v1/", "/api/v1/info", "/api/v1/nothing"})
    EXPECT_TRUE(HttpApi::serves(path)) << path;
  for (const char* path : {"/metrics/", "/api/v1", "/api/v2/info", "/mcp/files", ""})
    EXPECT_FALSE(HttpApi::serves(path)) << path;
}

TEST_F(HttpApiTest, ServersAreShownAtOnce) {
  const auto exchange = ask("/api/v1/servers");

  EXPECT_EQ(exchange->status, 200);
  EXPECT_EQ(exchange->header("Cache-Control"), "no-store");
  EXPECT_THAT(exchange->body, HasSubstr(R"("name":"files")"));
}

TEST_F(HttpApiTest, WhatMustBeMeasuredIsAnsweredOnceAndAlsoIfNobodyMeasures) {
  ShimClient client = daemon.ready_client("files");
  const auto info = ask("/api/v1/info");
  const auto instances = ask("/api/v1/instances");
  const auto sessions = ask("/api/v1/sessions");
  const auto metrics = ask("/metrics");

  daemon.pass(seconds(3));

  EXPECT_THAT(info->body, HasSubstr(R"("version")"));
  EXPECT_THAT(instances->body, HasSubstr("instance1000000"));
  EXPECT_THAT(sessions->body, HasSubstr(R"("client":{"pid":41)"));
  EXPECT_THAT(metrics->header("Content-Type"), StartsWith("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics->body, HasSubstr("# TYPE corral_"));
}

TEST_F(HttpApiTest, ATokenThatIsLimitedToSomeServersMayNotLook) {
  for (const char* path : {"/metrics", "/api/v1/info", "/api/v1/nothing"}) {
    EXPECT_EQ(ask(path, "", "GET", {"token:ci", {"files"}})->status, 403) << path;
    EXPECT_EQ(ask(path, "", "POST", {"token:ci", {"files"}})->status, 403) << "asked before the method";
  }
}

TEST_F(HttpApiTest, NothingCanBeChanged) {
  for (const char* method : {"POST", "PUT", "DELETE"}) {
    const auto exchange = ask("/api/v1/servers", "", method);
    EXPECT_EQ(exchange->status, 405) << method;
    EXPECT_EQ(exchange->header("Allow"), "GET, HEAD") << method;
  }
  EXPECT_EQ(ask("/api/v1/servers", "", "HEAD")->status, 200);
}

TEST_F(HttpApiTest, AnUnknownPathNamesTheKnownOnes) {
  const auto exchange = ask("/api/v1/nothing");

  EXPECT_EQ(exchange->status, 404);
  EXPECT_THAT(exchange->body, HasSubstr("/api/v1/info"));
}

TEST_F(HttpApiTest, EventsComeAfterTheNumberThatIsAsked) {
  daemon.connect("fils");
  const std::uint64_t last = daemon.records.events().last();

  const auto events = tests::json(ask("/api/v1/events", "after=" + std::to_string(last - 1))->body);

  EXPECT_EQ(events.at("events").as_array().size(), 1U);
}

TEST_F(HttpApiTest, OnlyTheUserSeesWhatAServerWroteToStderr) {
  daemon.records.events().tell({.kind = events::Kind::Crash,
                                .server = "files",
                                .text = "files died",
                                .error_lines = {"the line of a server"}});
  const std::string query = "after=" + std::to_string(daemon.records.events().last() - 1);

  EXPECT_THAT(ask("/api/v1/events", query)->body, HasSubstr("the line of a server"));
  const std::string told = ask("/api/v1/events", query, "GET", {"token:ci", {}})->body;
  EXPECT_THAT(told, HasSubstr("files died"));
  EXPECT_THAT(told, Not(HasSubstr("the line of a server")));
}

TEST_F(HttpApiTest, AnEventIsWaitedFor) {
  const auto exchange =
      ask("/api/v1/events", "after=" + std::to_string(daemon.records.events().last()) + "&wait_ms=1000");
  daemon.settle();
  EXPECT_FALSE(exchange->replied);

  daemon.pass(seconds(1));

  EXPECT_EQ(exchange->status, 200);
}

TEST_F(HttpApiTest, NumbersMustBeNumbersInTheirRange) {
  for (const char* query : {"after=x", "after=-1", "limit=0", "limit=1001", "wait_ms=60001", "limit=1x"})
    EXPECT_EQ(ask("/api/v1/events", query)->status, 400) << query;
  EXPECT_EQ(ask("/api/v1/events", "limit=1000")->status, 200);
}

}  // namespace
}  // namespace corral::daemon
