#include "transport/http_refusal.h"

#include <gtest/gtest.h>

#include "session/exchange.h"
#include "transport/fake_exchange.h"
#include "wire/error_codes.h"

namespace corral::transport {
namespace {

using tests::json;

TEST(HttpRefusal, IsAnErrorInJson) {
  const http::Response response = refusal_response({405, 0, "no \"GET\"", R"({"a":1})", "POST"}, "\"x\"");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.body,
            R"({"jsonrpc":"2.0","id":"x","error":{"code":-32000,"message":"no \"GET\"","data":{"a":1}}})");
  ASSERT_EQ(response.headers.size(), 2U);
  EXPECT_EQ(response.headers[1].value, "POST");
}

TEST(HttpRefusal, IsAnsweredWithItsId) {
  FakeExchange exchange;
  refuse_post(&exchange, {404, -32001, "not here"}, "7");
  EXPECT_EQ(exchange.status, 404);
  const auto body = json(exchange.body);
  EXPECT_EQ(body.at("id"), 7);
  EXPECT_EQ(body.at("error").at("code"), -32001);
  EXPECT_EQ(body.at("error").at("message"), "not here");
  EXPECT_EQ(exchange.header("Retry-After"), "");

  FakeExchange other;
  refuse_post(&other, {404, -32001, "not here"});
  EXPECT_TRUE(json(other.body).at("id").is_null());
  refuse_post(nullptr, {404, -32001, "nobody waits"});
}

TEST(HttpRefusal, MayBeSentAgain) {
  FakeExchange exchange;
  refuse_post(&exchange, {503, wire::kTooManyCalls, "later"}, "\"a\"");
  EXPECT_EQ(exchange.status, 503);
  EXPECT_EQ(exchange.header("Retry-After"), "1");
  EXPECT_EQ(json(exchange.body).at("id"), "a");
  EXPECT_EQ(json(exchange.body).at("error").at("code"), wire::kTooManyCalls);
  refuse_post(nullptr, {503, wire::kTooManyCalls, "nobody waits"});
}

}  // namespace
}  // namespace corral::transport
