#include "transport/waiting_posts.h"

#include <gtest/gtest.h>

#include "base/shares.h"
#include "transport/fake_exchange.h"
#include "transport/streamable_fixture.h"

namespace corral::transport {
namespace {

std::string call(const std::string& id) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/list"})";
}

class WaitingPostsTest : public testing::Test {
 protected:
  HttpReply wait(const std::string& text) {
    auto reply = std::make_shared<FakeExchange>();
    EXPECT_TRUE(posts_.push(reply, posted(text), nullptr));
    return reply;
  }

  WaitingPosts posts_;
};

TEST_F(WaitingPostsTest, ComeOutInTheirOrder) {
  EXPECT_TRUE(posts_.empty());
  EXPECT_FALSE(posts_.pop());
  const HttpReply one = wait(call("1"));
  const HttpReply two = wait(call("2"));
  EXPECT_EQ(posts_.size(), 2U);
  EXPECT_FALSE(posts_.empty());

  for (const auto& [reply, id] : {std::pair{one, "1"}, std::pair{two, "2"}}) {
    const auto next = posts_.pop();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->exchange, reply);
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
  const HttpReply one = wait(call("1"));
  const HttpReply two = wait(call("2"));
  posts_.lose(one.get());

  EXPECT_EQ(posts_.pop()->exchange, nullptr);
  EXPECT_EQ(posts_.pop()->exchange, two);
}

TEST_F(WaitingPostsTest, AreTakenBackByTheirId) {
  wait(call("1"));
  const HttpReply two = wait(call("\"2\""));
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
       {cancelled("7"), tests::notification("notifications/progress", R"({"requestId":1})"), as_request,
        cancelled("5"), cancelled("6"),
        std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})")}) {
    EXPECT_FALSE(posts_.take_cancelled(posted(text))) << text;
  }
  EXPECT_EQ(posts_.size(), 3U);
}

TEST_F(WaitingPostsTest, AreCountedForWhoSentThem) {
  Shares shares;
  Account& account = shares.account("token:a");
  const std::string text = call("1");
  auto reply = std::make_shared<FakeExchange>();
  ASSERT_TRUE(posts_.push(reply, posted(text), &account));
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
  EXPECT_FALSE(posts_.push(reply, posted(text), &account));
  EXPECT_TRUE(posts_.empty());
}

TEST_F(WaitingPostsTest, OfOneProgramLeaveRoomForTheOthers) {
  HttpLimits limits;
  limits.waiting = 2;
  const auto push = [&](const std::string& id, std::uint64_t program) {
    Posted post = posted(call(id));
    post.program = program;
    ASSERT_FALSE(posts_.full_for(post, limits)) << id;
    EXPECT_TRUE(posts_.push(std::make_shared<FakeExchange>(), post, nullptr));
  };
  Posted one_more = posted(call("9"));
  one_more.program = 1;
  push("1", 1);
  push("2", 1);
  EXPECT_EQ(posts_.of_program(1), 2U);
  EXPECT_EQ(posts_.of_program(2), 0U);
  EXPECT_TRUE(posts_.full_for(one_more, limits)) << "its own limit";
  push("3", 2);
  push("4", 2);
  push("5", 3);
  push("6", 3);
  push("7", 4);
  push("8", 4);
  one_more.program = 5;
  EXPECT_TRUE(posts_.full_for(one_more, limits)) << "the limit of all of them";
}

TEST_F(WaitingPostsTest, OfOneProgramHoldAQuarterOfTheBytes) {
  HttpLimits limits;
  limits.queued = 4 * call("1").size();
  Posted one = posted(call("1"));
  EXPECT_FALSE(posts_.full_for(one, limits));
  EXPECT_TRUE(posts_.push(nullptr, one, nullptr));
  EXPECT_TRUE(posts_.full_for(one, limits)) << "two of them are more than a quarter";
  one.program = 1;
  EXPECT_FALSE(posts_.full_for(one, limits)) << "the first of a program is taken";
}

TEST_F(WaitingPostsTest, AreRemovedByTheirId) {
  EXPECT_TRUE(posts_.push(nullptr, posted(call("1")), nullptr, PostId(1)));
  EXPECT_TRUE(posts_.push(nullptr, posted(call("2")), nullptr, PostId(2)));
  EXPECT_TRUE(posts_.remove(PostId(1)));
  EXPECT_FALSE(posts_.remove(PostId(1)));
  EXPECT_EQ(posts_.pop()->id, PostId(2));
}

}  // namespace
}  // namespace corral::transport
