#include "transport/modern_posts.h"

#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "transport/fake_exchange.h"
#include "wire/attribution.h"
#include "wire/rpc.h"

namespace corral::transport {
namespace {

using Programs = ModernPosts::Programs;
using Work = ModernPosts::Work;
using tests::notification;
using tests::request;
using wire::Era;

std::string with_meta(const std::string& meta) { return R"({"_meta":{)" + meta + "}}"; }

const std::string kWantsLogs = with_meta(R"("io.modelcontextprotocol/logLevel":"info")");
const std::string kLog = notification("notifications/message", R"({"level":"info","data":"x"})");

class ModernPostsTest : public testing::Test {
 protected:
  Posted posted(const std::string& text, std::uint64_t program = 0) {
    return {wire::Message(text).owned(), program};
  }
  PostId add(const std::string& text, std::uint64_t program = 0) {
    const PostId id = ids.next();
    posts.add(ModernPost(id, std::make_shared<FakeExchange>(), posted(text, program)));
    return id;
  }
  /// The id of the request that the notification belongs to; none = 0.
  PostId recipient(const std::string& text, Era era = Era::Modern) {
    const wire::Message message(text);
    const ModernPost* const post = posts.recipient_of(message, era).post;
    return post == nullptr ? PostId() : post->id;
  }
  FakeExchange& client(PostId id) { return static_cast<FakeExchange&>(*posts.find(id)->exchange); }

  tests::HeldClock clock;
  IdSource<PostId> ids;
  ModernPosts posts{Programs::Several};
};

TEST_F(ModernPostsTest, AreFoundAndTakenByTheIdThatCorralIssued) {
  const PostId one = add(request("\"same\"", "tools/call"), 1);
  const PostId two = add(request("\"same\"", "tools/call"), 2);
  EXPECT_EQ(posts.size(), 2U);
  EXPECT_EQ(posts.of_program(1), 1U);
  EXPECT_EQ(posts.find(two)->program, 2U);
  EXPECT_EQ(posts.find(two)->client_id, "\"same\"");
  EXPECT_EQ(posts.take(one, Work::Done)->id, one);
  EXPECT_FALSE(posts.take(one, Work::Done));
  EXPECT_EQ(posts.find(one), nullptr);
  EXPECT_EQ(posts.take_all().size(), 1U);
  EXPECT_EQ(posts.size(), 0U);
}

TEST_F(ModernPostsTest, GetTheProgressThatTheyAskedForWithTheirOwnToken) {
  const PostId quiet = add(request("1", "tools/call"));
  const PostId one = add(request("2", "tools/call", with_meta(R"("progressToken":"mine")")));
  const auto progress = [](PostId id) {
    return notification("notifications/progress",
                        R"({"progressToken":)" + to_string(id) + R"(,"progress":1})");
  };
  const std::string text = progress(one);
  const wire::Message message(text);
  const ModernPosts::Recipient to = posts.recipient_of(message, Era::Modern);
  ASSERT_NE(to.post, nullptr);
  EXPECT_EQ(to.post->id, one);
  EXPECT_EQ(to.where.in(text), to_string(one));
  EXPECT_EQ(to.client_value, "\"mine\"");
  EXPECT_EQ(recipient(progress(quiet)), PostId());
}

TEST_F(ModernPostsTest, GetALogLineOnlyIfNoOtherCanHaveCausedIt) {
  const PostId one = add(request("1", "tools/call", kWantsLogs), 1);
  EXPECT_EQ(recipient(kLog), one);
  EXPECT_EQ(recipient(notification("notifications/message", R"({"level":"debug","data":"x"})")), PostId())
      << "too detailed";
  add(request("2", "tools/call"), 2);
  EXPECT_EQ(recipient(kLog, Era::Modern), one) << "a modern server logs only for those that want it";
  EXPECT_EQ(recipient(kLog, Era::Legacy), PostId()) << "a legacy server logs for any of them";
}

TEST_F(ModernPostsTest, LoseALogLineThatAnAbandonedRequestMayHaveCaused) {
  const PostId gone = add(request("1", "tools/call"), 1);
  const PostId one = add(request("2", "tools/call", kWantsLogs), 2);
  posts.take(gone, Work::Continues);
  EXPECT_EQ(recipient(kLog, Era::Legacy), PostId());
  clock.pass(wire::kStillWorks + std::chrono::seconds(1));
  EXPECT_EQ(recipient(kLog, Era::Legacy), one) << "the server has ended that work long ago";
}

TEST_F(ModernPostsTest, ListenAfterTheirAcknowledgementToTheListsThatTheyNamed) {
  const PostId listen =
      add(request("\"l\"", "subscriptions/listen", R"({"notifications":{"toolsListChanged":true}})"));
  const auto about = [&](const std::string& method) {
    return notification("notifications/" + method, with_meta(R"("io.modelcontextprotocol/subscriptionId":")" +
                                                             to_string(listen) + "\""));
  };
  const std::string tools = "notifications/tools/list_changed";
  EXPECT_EQ(recipient(about("tools/list_changed")), PostId()) << "it is not acknowledged";
  EXPECT_FALSE(posts.find(listen)->wants(tools));
  EXPECT_EQ(recipient(about("subscriptions/acknowledged")), listen);
  EXPECT_EQ(recipient(about("tools/list_changed")), listen);
  EXPECT_TRUE(posts.find(listen)->wants(tools));
  EXPECT_FALSE(posts.find(listen)->wants("notifications/prompts/list_changed"));
}

TEST_F(ModernPostsTest, NameTheClientThatHasLeftMostUnread) {
  EXPECT_FALSE(posts.slowest());
  const PostId one = add(request("1", "tools/call"));
  const PostId two = add(request("2", "tools/call"));
  client(one).waiting = 5;
  client(two).waiting = 7;
  EXPECT_EQ(posts.queued(), 0U) << "no stream has begun";
  EXPECT_FALSE(posts.slowest());
  posts.find(one)->streaming = true;
  posts.find(two)->streaming = true;
  EXPECT_EQ(posts.queued(), 12U);
  EXPECT_EQ(posts.slowest(), two);
}

}  // namespace
}  // namespace corral::transport
