#include "control/daemon_request.h"

#include <gmock/gmock.h>
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

/// A daemon that has answered before it is asked. Every request has a connection of its own.
class DaemonRequests : public testing::Test {
 protected:
  void SetUp() override { connect(); }
  void connect() {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    daemon_ = UniqueFd(ends[1]);
    socket_.emplace(UniqueFd(ends[0]));
  }
  void says(const Reply& reply) {
    const std::string line = control::encode(reply);
    ASSERT_EQ(send(daemon_.get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
  }
  DaemonRequest request(Hello hello, milliseconds patience = seconds(60)) {
    return {std::move(*socket_), std::move(hello), patience};
  }
  /// Over the connection that is there, and makes the next one.
  DaemonAnswer ask(Hello hello, milliseconds patience = seconds(60),
                   const DaemonRequest::Late& late = nullptr) {
    DaemonAnswer answer = request(std::move(hello), patience).wait(late);
    if (daemon_.valid()) read_hello();
    connect();
    return answer;
  }
  void read_hello() {
    std::string line(4096, '\0');
    const ssize_t size = recv(daemon_.get(), line.data(), line.size(), MSG_DONTWAIT);
    line.resize(size > 0 ? static_cast<std::size_t>(size) - 1 : 0);
    const auto hello = control::decode_hello(line);
    EXPECT_TRUE(hello) << line;
    asked_ = hello ? *hello : Hello{};
  }

  UniqueFd daemon_;
  std::optional<control::ControlSocket> socket_;
  Hello asked_;  // by the last request
};

TEST_F(DaemonRequests, ForTheStatusSayNoMoreThanTheyHaveTo) {
  says(said(Reply::Kind::Note, "by the way"));
  says(said(Reply::Kind::Status, R"({"a":1})"));
  const DaemonAnswer status = ask(status_hello());
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(status.text, R"({"a":1})");
  EXPECT_EQ(asked_.verb, Verb::Status);
  EXPECT_EQ(asked_.protocol, kProtocol);
  EXPECT_EQ(asked_.version, kVersion);
  EXPECT_FALSE(asked_.measure);

  says(said(Reply::Kind::Status, "{}"));
  ASSERT_TRUE(ask(status_hello(Measure::Yes)).ok());
  EXPECT_TRUE(asked_.measure);
}

TEST_F(DaemonRequests, ForTheStatusMayBeRefused) {
  says(said(Reply::Kind::Refused, "no"));
  const DaemonAnswer status = ask(status_hello());
  EXPECT_EQ(status.kind, DaemonAnswer::Kind::Refused);
  EXPECT_EQ(status.text, "the daemon refuses: no");
  daemon_.reset();
  EXPECT_EQ(ask(status_hello()).kind, DaemonAnswer::Kind::HungUp);
}

TEST_F(DaemonRequests, ForTheEndTakeSilenceForAYes) {
  says(said(Reply::Kind::Exit, "ended 2 sessions"));
  const DaemonAnswer ended = ask(verb_hello(Verb::Shutdown));
  EXPECT_TRUE(ended.ok());
  EXPECT_EQ(ended.text, "ended 2 sessions");
  EXPECT_EQ(asked_.verb, Verb::Shutdown);
  for (const Reply::Kind kind : {Reply::Kind::Refused, Reply::Kind::RunIt}) {
    says(said(kind, "no"));
    const DaemonAnswer refused = ask(verb_hello(Verb::Shutdown));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.text, "the daemon refuses: no");
  }
  const DaemonAnswer late = ask(verb_hello(Verb::Shutdown), milliseconds(0));
  EXPECT_EQ(late.kind, DaemonAnswer::Kind::Silent);
  EXPECT_EQ(late.text, "the daemon does not answer");
  daemon_.reset();
  const DaemonAnswer gone = ask(verb_hello(Verb::Shutdown));
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(gone.text, "") << "it went without a word";
}

TEST_F(DaemonRequests, ForAResultGiveTheDaemonsOwnRefusal) {
  says(said(Reply::Kind::Result, R"({"b":2})"));
  EXPECT_EQ(ask(verb_hello(Verb::Info)).text, R"({"b":2})");
  EXPECT_EQ(asked_.protocol, kProtocol);
  says(said(Reply::Kind::Refused, "no such server"));
  EXPECT_EQ(ask(verb_hello(Verb::Restart, "files")).text, "no such server");
  EXPECT_EQ(asked_.server, "files");
  daemon_.reset();
  const DaemonAnswer gone = ask(verb_hello(Verb::Info));
  EXPECT_EQ(gone.kind, DaemonAnswer::Kind::HungUp);
  EXPECT_EQ(gone.text, "the daemon closed the connection");
}

TEST_F(DaemonRequests, SayThatTheReplyCannotBeUnderstood) {
  ASSERT_EQ(send(daemon_.get(), "hello\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_EQ(ask(verb_hello(Verb::Info)).kind, DaemonAnswer::Kind::Garbled);
}

TEST_F(DaemonRequests, AskNobodyWhetherToGoOnIfThePatienceIsShort) {
  int asked = 0;
  const auto late = [&]() -> Result<void> {
    ++asked;
    return {};
  };
  EXPECT_FALSE(ask(verb_hello(Verb::Reload), milliseconds(0), late).ok());
  EXPECT_EQ(asked, 0);
}

TEST_F(DaemonRequests, CanBePolledBesideOtherThings) {
  DaemonRequest one = request(verb_hello(Verb::Info));
  EXPECT_GE(one.fd(), 0);
  EXPECT_FALSE(one.poll());
  says(said(Reply::Kind::Note, "by the way"));
  EXPECT_FALSE(one.poll());
  says(said(Reply::Kind::Result, "{}"));
  const std::optional<DaemonAnswer> answer = one.poll();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->ok());

  connect();
  DaemonRequest late = request(verb_hello(Verb::Info), milliseconds(0));
  EXPECT_EQ(late.poll()->kind, DaemonAnswer::Kind::Silent);
  connect();
  DaemonRequest lost = request(verb_hello(Verb::Info));
  daemon_.reset();
  EXPECT_EQ(lost.poll()->kind, DaemonAnswer::Kind::HungUp);
}

TEST(DaemonRequestAlone, HasItsAnswerAtOnceWhereNoDaemonIs) {
  const std::string nowhere = testing::TempDir() + "no-such-folder";
  DaemonRequest request(nowhere, status_hello(), seconds(60));

  EXPECT_EQ(request.fd(), -1);
  EXPECT_LE(request.deadline(), DaemonRequest::Clock::now());
  EXPECT_EQ(request.poll()->kind, DaemonAnswer::Kind::NoDaemon);
  EXPECT_EQ(request.wait().text, no_daemon_is_running(Purpose::Show));
  EXPECT_EQ(look_for_daemon(nowhere).kind, DaemonAnswer::Kind::NoDaemon);
}

TEST(NoDaemonIsRunning, SaysWhatFitsTheRequest) {
  const auto said = [](Verb verb) { return no_daemon_is_running(purpose_of(verb)); };
  for (const Verb verb :
       {Verb::Status, Verb::Events, Verb::Restart, Verb::Reload, Verb::SessionList, Verb::Shutdown}) {
    EXPECT_THAT(said(verb), testing::StartsWith("no daemon is running"));
  }
  EXPECT_THAT(said(Verb::Status), testing::HasSubstr("`corral ps --last`"));
  EXPECT_THAT(said(Verb::Reload), testing::HasSubstr("the next one will read the file"));
  EXPECT_THAT(said(Verb::SessionList), testing::HasSubstr("`corral session create`"));
  EXPECT_EQ(said(Verb::Shutdown), "no daemon is running");
  EXPECT_THAT(no_daemon_is_running(Purpose::Listen), testing::HasSubstr("`corral service install`"));
}

}  // namespace
}  // namespace corral::control
