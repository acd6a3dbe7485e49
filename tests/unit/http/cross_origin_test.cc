#include "http/cross_origin.h"

#include <gtest/gtest.h>

#include "http/pieces.h"

namespace corral::http {
namespace {

constexpr const char* kOrigin = "http://localhost:6274";

std::string shown(const Headers& headers) {
  std::string all;
  for (const Header& header : headers) all += header.name + ": " + header.value + "\n";
  return all;
}

TEST(CrossOrigin, KnowsAPreflight) {
  Request request;
  request.method = "OPTIONS";
  EXPECT_FALSE(is_preflight(request));
  request.headers = {{"access-control-request-method", "POST"}};
  EXPECT_TRUE(is_preflight(request));
  request.method = "POST";
  EXPECT_FALSE(is_preflight(request));
}

TEST(CrossOrigin, AnswersAPreflight) {
  const Response response = preflight_reply(kOrigin);
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(shown(response.headers),
            "Access-Control-Allow-Origin: http://localhost:6274\n"
            "Access-Control-Allow-Methods: GET, POST, DELETE\n"
            "Access-Control-Allow-Headers: Content-Type, Accept, Authorization, Mcp-Session-Id, "
            "MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name\n"
            "Access-Control-Max-Age: 600\n"
            "Vary: Origin\n");
}

class ForOrigin : public testing::Test {
 protected:
  std::shared_ptr<Pieces> inner_ = std::make_shared<Pieces>();
  std::shared_ptr<Exchange> exchange_ = for_origin(inner_, kOrigin);
  const std::string told_ =
      "A: b\nAccess-Control-Allow-Origin: http://localhost:6274\n"
      "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate\nVary: Origin\n";
};

TEST_F(ForOrigin, SaysWhoMayReadAnAnswer) {
  exchange_->reply({403, {{"A", "b"}}, "body", nullptr});
  ASSERT_EQ(inner_->replies.size(), 1U);
  EXPECT_EQ(inner_->replies[0].status, 403);
  EXPECT_EQ(inner_->replies[0].body, "body");
  EXPECT_EQ(shown(inner_->replies[0].headers), told_);
}

TEST_F(ForOrigin, SaysWhoMayReadAStream) {
  exchange_->begin(200, {{"A", "b"}});
  ASSERT_EQ(inner_->replies.size(), 1U);
  EXPECT_EQ(inner_->replies[0].status, 200);
  EXPECT_EQ(shown(inner_->replies[0].headers), told_);
  exchange_->write({"a piece", nullptr});
  EXPECT_EQ(inner_->pieces, std::vector<std::string>{"a piece"});
  EXPECT_EQ(inner_->finished, 0);
  exchange_->finish();
  EXPECT_EQ(inner_->finished, 1);
}

TEST_F(ForOrigin, AnswersWithALineInWhichOneThingIsReplaced) {
  exchange_->reply_json({R"({"id":7})", nullptr}, {{6, 7}, R"("mine")"});
  ASSERT_EQ(inner_->replies.size(), 1U);
  EXPECT_EQ(inner_->replies[0].status, 200);
  EXPECT_EQ(inner_->replies[0].body, R"({"id":"mine"})");
  EXPECT_EQ(inner_->replies[0].headers.front().name, "Content-Type");
  EXPECT_EQ(inner_->replies[0].headers.front().value, "application/json");
}

TEST_F(ForOrigin, IsTheSameExchangeInEverythingElse) {
  int drained = 0;
  int gone = 0;
  inner_->who.address = "10.0.0.1:5";
  inner_->waiting = 77;
  exchange_->when_drained([&] { ++drained; });
  exchange_->when_gone([&] { ++gone; });

  EXPECT_EQ(&exchange_->peer(), &inner_->who);
  EXPECT_EQ(exchange_->queued(), 77U);
  ASSERT_TRUE(inner_->drained && inner_->gone);
  inner_->drained();
  EXPECT_EQ(drained, 1);
  EXPECT_EQ(gone, 0);
  inner_->gone();
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace corral::http
