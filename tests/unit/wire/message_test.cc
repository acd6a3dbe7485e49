#include "wire/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace corral::wire {
namespace {

TEST(Message, GivesTheTextOfEachField) {
  const std::string text =
      R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{"progressToken":7,)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"info"}}})";
  const Message message(text);
  EXPECT_EQ(message.kind(), Kind::Request);
  EXPECT_EQ(message.text(), text);
  EXPECT_EQ(message.id(), R"("a")");
  EXPECT_EQ(message.method(), "tools/call");
  EXPECT_TRUE(message.params().starts_with(R"({"name":"x")"));
  EXPECT_TRUE(message.meta().starts_with(R"({"progressToken":7)"));
  EXPECT_EQ(message.progress_token(), "7");
  EXPECT_EQ(message.protocol_version(), R"("2026-07-28")");
  EXPECT_EQ(message.log_level(), R"("info")");
  EXPECT_TRUE(message.has_id() && message.has_params() && message.has_meta());
  EXPECT_TRUE(message.has_protocol_version() && message.has_log_level());
  EXPECT_FALSE(message.has_result() || message.has_error());
}

TEST(Message, GivesAnEmptyTextForAFieldThatIsNotThere) {
  const Message message(std::string_view(R"({"jsonrpc":"2.0","method":"ping"})"));
  EXPECT_EQ(message.kind(), Kind::Notification);
  EXPECT_EQ(message.id(), "");
  EXPECT_EQ(message.params(), "");
  EXPECT_EQ(message.subscription_id(), "");
  EXPECT_FALSE(message.has_id() || message.has_params() || message.has_meta() ||
               message.has_subscription_id());
}

TEST(Message, TellsAResultFromAnError) {
  const Message result(std::string_view(R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})"));
  EXPECT_TRUE(result.has_result());
  EXPECT_EQ(result.result(), R"({"a":1})");
  const Message error(std::string_view(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}})"));
  EXPECT_TRUE(error.has_error());
  EXPECT_EQ(error.error(), R"({"code":1,"message":"no"})");
  EXPECT_FALSE(error.has_result());
}

TEST(Message, NamesWhatNotificationsAreAbout) {
  const Message cancelled(std::string_view(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"RequestId":6}})"));
  EXPECT_TRUE(cancelled.has_request_id());
  EXPECT_EQ(cancelled.request_id(), "5");
  EXPECT_TRUE(cancelled.lookalike_request_id());
  EXPECT_FALSE(cancelled.lookalike());
  const Message progress(std::string_view(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}})"));
  EXPECT_TRUE(progress.has_direct_token());
  EXPECT_EQ(progress.direct_token(), R"("t")");
}

TEST(Message, SaysWhereAFieldIs) {
  const std::string text = R"({"jsonrpc":"2.0","id":12,"method":"ping"})";
  const Message message(text);
  EXPECT_EQ(message.where().id.begin, text.find("12"));
  EXPECT_EQ(message.where().id.end, text.find("12") + 2);
}

TEST(Message, SaysWhatIsWrong) {
  const Message broken(std::string_view("{\"a\":1"));
  EXPECT_EQ(broken.kind(), Kind::NotJson);
  EXPECT_STREQ(broken.fault(), "the text ends early");
  EXPECT_EQ(broken.fault_at(), 6U);
  const Message nothing;
  EXPECT_EQ(nothing.kind(), Kind::NotJson);
  EXPECT_EQ(nothing.text(), "");
  EXPECT_EQ(nothing.id(), "");
}

TEST(Message, CopiesNoText) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const Message message(text);
  EXPECT_EQ(message.text().data(), text.data());
  EXPECT_EQ(message.method().data(), text.data() + text.find("ping"));
  EXPECT_EQ(message.line().owner, nullptr);
}

TEST(Message, KeepsItsTextAliveWithItsOwner) {
  auto owner = std::make_shared<const std::string>(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  const std::weak_ptr<const std::string> alive = owner;
  {
    const Message message(Line{*owner, owner});
    owner.reset();
    const Message kept = message.owned();
    EXPECT_EQ(kept.text().data(), message.text().data());
    EXPECT_EQ(kept.id(), "1");
  }
  EXPECT_TRUE(alive.expired());
}

TEST(Message, OwnsACopyOfATextThatNobodyOwns) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const Message kept = Message(text).owned();
  std::fill(text.begin(), text.end(), ' ');
  EXPECT_EQ(kept.text(), R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(kept.id(), "1");
  EXPECT_EQ(kept.method(), "ping");
  ASSERT_NE(kept.line().owner, nullptr);
  EXPECT_EQ(kept.text().data(), kept.line().owner->data());
}

TEST(Message, KeepsNoLargeBatchForASmallPartOfIt) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const auto batch = std::make_shared<const std::string>("[" + text + "," + std::string(1000, ' ') + "{}]");
  const Message message(Line{std::string_view(*batch).substr(1, text.size()), batch});
  const Message kept = message.owned();
  EXPECT_NE(kept.line().owner, batch);
  EXPECT_EQ(kept.text(), text);
  EXPECT_EQ(kept.id(), "1");
}

TEST(Message, KeepsNoBufferThatIsMuchLargerThanItsText) {
  std::string buffer = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::size_t size = buffer.size();
  buffer.reserve(2 * size);
  const auto owner = std::make_shared<const std::string>(std::move(buffer));
  const Message kept = Message(Line{*owner, owner}).owned();
  EXPECT_NE(kept.line().owner, owner) << "only the text is counted for it";
  EXPECT_EQ(kept.text().size(), size);
}

TEST(Message, KeepsADecodedMethodWhenItIsCopiedOrMoved) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"p\u0069ng"})";
  Message first(text);
  EXPECT_EQ(first.method(), "ping");
  const Message copy = first;
  const Message moved = std::move(first);
  EXPECT_EQ(copy.method(), "ping");
  EXPECT_EQ(moved.method(), "ping");
}

TEST(Message, TakesOverFieldsThatWereFoundBefore) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const Message message(Line{text, nullptr}, scan(text));
  EXPECT_EQ(message.kind(), Kind::Request);
  EXPECT_EQ(message.method(), "ping");
}

}  // namespace
}  // namespace corral::wire
