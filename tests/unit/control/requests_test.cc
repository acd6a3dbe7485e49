#include "control/requests.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "version.h"

namespace corral::control {
namespace {

using control::Hello;
using control::Reply;
using control::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

Reply said(Reply::Kind kind, const std::string& text) { return {kind, text, 0, 0, 0, ""}; }

/// A daemon that has answered before it is asked.
class Requests : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    daemon_ = UniqueFd(ends[1]);
    channel_.emplace(UniqueFd(ends[0]));
  }
  void says(const Reply& reply) {
    const std::string line = control::encode(reply);
    ASSERT_EQ(send(daemon_.get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
  }
  Hello asked() {
    std::string line(4096, '\0');
    const ssize_t size = recv(daemon_.get(), line.data(), line.size(), MSG_DONTWAIT);
    line.resize(size > 0 ? static_cast<std::size_t>(size) - 1 : 0);
    const auto hello = control::decode_hello(line);
    EXPECT_TRUE(hello) << line;
    return hello ? *hello : Hello{};
  }

  UniqueFd daemon_;
  std::optional<control::Channel> channel_;
};

TEST_F(Requests, ForTheStatusSayNoMoreThanTheyHaveTo) {
  says(said(Reply::Kind::Note, "by the way"));
  says(said(Reply::Kind::Status, R"({"a":1})"));
  const auto status = ask_status(*channel_, seconds(60));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, R"({"a":1})");
  const Hello hello = asked();
  EXPECT_EQ(hello.verb, Verb::Status);
  EXPECT_EQ(hello.protocol, 1);
  EXPECT_EQ(hello.version, kVersion);
  EXPECT_FALSE(hello.measure);

  says(said(Reply::Kind::Status, "{}"));
  ASSERT_TRUE(ask_status(*channel_, seconds(60), Measure::Yes));
  EXPECT_TRUE(asked().measure);
}

TEST_F(Requests, ForTheStatusMayBeRefused) {
  says(said(Reply::Kind::Refused, "no"));
  const auto status = ask_status(*channel_, seconds(60));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the daemon refuses: no");
  daemon_.reset();
  EXPECT_EQ(ask_status(*channel_, seconds(60)).error().kind, Error::Kind::NotFound);
}

TEST_F(Requests, ForTheEndTakeSilenceForAYes) {
  says(said(Reply::Kind::Exit, "ended 2 sessions"));
  EXPECT_EQ(*ask_to_shut_down(*channel_, seconds(60)), "ended 2 sessions");
  EXPECT_EQ(asked().verb, Verb::Shutdown);
  for (const Reply::Kind kind : {Reply::Kind::Refused, Reply::Kind::RunIt}) {
    says(said(kind, "no"));
    const auto refused = ask_to_shut_down(*channel_, seconds(60));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "the daemon refuses: no");
  }
  const auto late = ask_to_shut_down(*channel_, milliseconds(0));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "the daemon does not answer");
  daemon_.reset();
  const auto gone = ask_to_shut_down(*channel_, seconds(60));
  ASSERT_TRUE(gone);
  EXPECT_EQ(*gone, "") << "it went without a word";
}

TEST_F(Requests, ForAResultGiveTheDaemonsOwnRefusal) {
  Hello hello;
  hello.verb = Verb::Info;
  says(said(Reply::Kind::Result, R"({"b":2})"));
  EXPECT_EQ(*ask_for_result(*channel_, hello, seconds(60)), R"({"b":2})");
  EXPECT_EQ(asked().protocol, 3) << "what this verb needs";
  says(said(Reply::Kind::Refused, "no such server"));
  EXPECT_EQ(ask_for_result(*channel_, hello, seconds(60)).error().message, "no such server");
  daemon_.reset();
  EXPECT_EQ(ask_for_result(*channel_, hello, seconds(60)).error().message, "the daemon hung up");
}

TEST_F(Requests, AskNobodyWhetherToGoOnIfThePatienceIsShort) {
  int asked = 0;
  Hello hello;
  hello.verb = Verb::Reload;
  const auto late = [&]() -> Result<void> {
    ++asked;
    return {};
  };
  EXPECT_FALSE(ask_for_result(*channel_, hello, milliseconds(0), late));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace corral::control
