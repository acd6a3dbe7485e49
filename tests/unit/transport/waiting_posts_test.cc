#include "transport/waiting_posts.h"

#include <gtest/gtest.h>

#include "base/shares.h"
#include "transport/fake_exchange.h"
#include "transport/streamable_fixture.h"
#include "wire/error_codes.h"

namespace corral::transport {
namespace {

std::string call(const std::string& id) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/list"})";
}
std::string cancelled(const std::string& id, const std::string& method = "notifications/cancelled") {
  return R"({"jsonrpc":"2.0","method":")" + method + R"(","params":{"requestId":)" + id + "}}";
}

class WaitingPostsTest : public testing::Test {
 protected:
  Door wait(const std::string& text) {
    auto door = std::make_shared<FakeExchange>();
    EXPECT_TRUE(posts_.push(door, posted(text), nullptr));
    return door;
  }

  WaitingPosts posts_;
};

TEST_F(WaitingPostsTest, ComeOutInTheirOrder) {
  EXPECT_TRUE(posts_.empty());
  EXPECT_FALSE(posts_.pop());
  const Door one = wait(call("1"));
  const Door two = wait(call("2"));
  EXPECT_EQ(posts_.size(), 2U);
  EXPECT_FALSE(posts_.empty());

  for (const auto& [door, id] : {std::pair{one, "1"}, std::pair{two, "2"}}) {
    const auto next = posts_.pop();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->exchange, door);
    EXPECT_EQ(next->posted.message.text(), call(id));
  }
  EXPECT_FALSE(posts_.pop());
}

TEST_F(WaitingPostsTest, AreFullByTheirNumber) {
  EXPECT_TRUE(posts_.full(0));
  EXPECT_FALSE(posts_.full(1));
  wait(call("1"));
  EXPECT_TRUE(posts_.full(1));
  EXPECT_FALSE(posts_.full(2));
  posts_.pop();
  EXPECT_FALSE(posts_.full(1));
}

TEST_F(WaitingPostsTest, AreFullAtFourMebibytes) {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  const std::string head = R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"x":")";
  const auto of_size = [&](std::size_t size) {
    return head + std::string(size - head.size() - 3, 'x') + "\"}}";
  };
  wait(of_size(kMost - 200));
  wait(of_size(199));
  EXPECT_FALSE(posts_.full(64));
  posts_.pop();
  posts_.pop();
  wait(of_size(kMost - 200));
  wait(of_size(200));
  EXPECT_TRUE(posts_.full(64));
  ASSERT_TRUE(posts_.take_cancelled(posted(cancelled("7"))));
  EXPECT_FALSE(posts_.full(64)) << "what is taken back makes room";
  wait(of_size(kMost));
  EXPECT_TRUE(posts_.full(64));
  posts_.pop();
  EXPECT_TRUE(posts_.full(64));
  posts_.pop();
  EXPECT_FALSE(posts_.full(64));
}

TEST_F(WaitingPostsTest, ForgetWhoDoesNotWaitButNotWhatWasSaid) {
  const Door one = wait(call("1"));
  const Door two = wait(call("2"));
  posts_.lose(one.get());

  EXPECT_EQ(posts_.pop()->exchange, nullptr);
  EXPECT_EQ(posts_.pop()->exchange, two);
}

TEST_F(WaitingPostsTest, AreTakenBackByTheirId) {
  wait(call("1"));
  const Door two = wait(call("\"2\""));
  wait(call("2"));
  const auto taken = posts_.take_cancelled(posted(cancelled("\"2\"")));

  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->exchange, two);
  EXPECT_EQ(posts_.size(), 2U);
  EXPECT_EQ(posts_.pop()->posted.message.text(), call("1"));
  EXPECT_EQ(posts_.pop()->posted.message.text(), call("2"));
}

TEST_F(WaitingPostsTest, AreTakenBackByNothingElse) {
  wait(call("1"));
  wait(R"({"jsonrpc":"2.0","id":5,"method":"initialize","params":{}})");
  wait(R"({"jsonrpc":"2.0","id":6,"result":{}})");
  const std::string as_request = R"({"jsonrpc":"2.0","id":9,"method":"notifications/cancelled",)"
                                 R"("params":{"requestId":1}})";
  for (const std::string& text :
       {cancelled("7"), cancelled("1", "notifications/progress"), as_request, cancelled("5"), cancelled("6"),
        std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})")}) {
    EXPECT_FALSE(posts_.take_cancelled(posted(text))) << text;
  }
  EXPECT_EQ(posts_.size(), 3U);
}

TEST_F(WaitingPostsTest, AreCountedForWhoSentThem) {
  Shares shares;
  Account& account = shares.account("token:a");
  const std::string text = call("1");
  auto door = std::make_shared<FakeExchange>();
  ASSERT_TRUE(posts_.push(door, posted(text), &account));
  EXPECT_EQ(account.used(Good::Bytes), text.size());
  {
    const auto next = posts_.pop();
    EXPECT_EQ(account.used(Good::Bytes), text.size()) << "until it is dealt with";
  }
  EXPECT_EQ(account.used(Good::Bytes), 0U);

  std::vector<Account::Held> all;
  std::size_t step = Shares::kBytes;
  while (step > 0) {
    auto held = account.take(Good::Bytes, step);
    if (held) all.push_back(std::move(*held));
    if (!held) step /= 2;
  }
  EXPECT_FALSE(posts_.push(door, posted(text), &account));
  EXPECT_TRUE(posts_.empty());
}

TEST(RefusedPost, IsAnsweredWithItsId) {
  FakeExchange door;
  refuse_post(&door, 404, -32001, "not here", "7");
  EXPECT_EQ(door.status, 404);
  const auto body = json(door.body);
  EXPECT_EQ(body.at("id"), 7);
  EXPECT_EQ(body.at("error").at("code"), -32001);
  EXPECT_EQ(body.at("error").at("message"), "not here");
  EXPECT_EQ(door.header("Retry-After"), "");

  FakeExchange other;
  refuse_post(&other, 404, -32001, "not here");
  EXPECT_TRUE(json(other.body).at("id").is_null());
  refuse_post(nullptr, 404, -32001, "nobody waits");
}

TEST(RefusedPost, MayBeSentAgain) {
  FakeExchange door;
  refuse_post_for_now(&door, 503, "later", "\"a\"");
  EXPECT_EQ(door.status, 503);
  EXPECT_EQ(door.header("Retry-After"), "1");
  EXPECT_EQ(json(door.body).at("id"), "a");
  EXPECT_EQ(json(door.body).at("error").at("code"), wire::kTooManyCalls);
  refuse_post_for_now(nullptr, 503, "nobody waits");
}

}  // namespace
}  // namespace corral::transport
