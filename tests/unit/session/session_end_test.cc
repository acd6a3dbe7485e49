// The end of a session by itself: what is answered, when the transport is told to exit, and that it is told
// once.
#include "session/session_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"
#include "wire/error_codes.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using pool::InstanceEnd;
using session::EndReason;
using session::SessionEnd;
using session::Transport;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A client without a session.
class NotingTransport final : public Transport {
 public:
  void send(const wire::Line& line, std::initializer_list<wire::Edit>) override {
    lines.emplace_back(line.text);
  }
  bool overflowing() const override { return false; }
  bool congested() const override { return false; }
  void pause() override { reading = false; }
  void resume() override { reading = true; }
  void error_output(std::string_view) override {}
  void note(const std::string&) override {}
  void close(Close how) override { closed = how; }
  void exit(int code, const std::string& why) override { exits.emplace_back(code, why); }

  std::vector<std::string> lines;
  std::vector<std::pair<int, std::string>> exits;
  std::optional<Close> closed;
  bool reading = true;
};

struct NoOutlet final : bridge::Outlet {
  void to_client(const wire::Line&, std::initializer_list<wire::Edit>) override {}
  void to_server(const wire::Message&) override {}
  QuestionId next_question() override { return ids.next(); }

  IdSource<QuestionId> ids;
};

class AnEnd : public testing::Test {
 protected:
  /// The session gets a private instance.
  void attach() {
    exchange_.pool.open(port_, {exchange_.spec, "{}", std::nullopt});
    exchange_.settle();
    ASSERT_TRUE(exchange_.answer_handshake(exchange_.server()));
    ASSERT_EQ(port_.last(), router::Opened::Kind::Ready);
    attachment_.attach(port_.answers.back());
  }
  void wait(const std::string& request) { ASSERT_TRUE(deferred_.add(wire::Message(request), nullptr)); }
  SessionEnd::WhenEnded note() {
    return [this](const InstanceEnd* ended) {
      told_.push_back(ended == nullptr ? "none" : cause_name(ended->cause));
    };
  }
  void exit_server() {
    exchange_.server().exit(0);
    exchange_.settle();
  }
  void pass(Clock::duration time) {
    exchange_.clock.pass(time);
    exchange_.settle();
  }

  Exchange exchange_{config::Share::Session};
  FakePort port_{1};
  NotingTransport transport_;
  NoOutlet outlet_;
  session::SessionRecord record_;
  router::ClientFacts client_;
  router::SessionMemory memory_;
  session::Attachment attachment_{exchange_.spec};
  session::Deferred deferred_;
  session::Crossing crossing_{exchange_.loop, outlet_};
  session::Opening opening_{exchange_.loop,
                            {transport_, exchange_.pool, attachment_, deferred_, client_, memory_}};
  std::optional<SessionEnd> end_{std::in_place, exchange_.loop,
                                 SessionEnd::Parts{port_, record_, transport_, exchange_.pool, attachment_,
                                                   opening_, deferred_, crossing_}};
  std::vector<std::string> told_;
};

TEST_F(AnEnd, WithoutAnInstanceIsOverAtOnce) {
  end_->end(EndReason::InputClosed, note());
  EXPECT_TRUE(end_->ended());
  EXPECT_THAT(told_, ElementsAre("none"));
  EXPECT_THAT(transport_.exits, ElementsAre(std::pair(0, std::string())));
  EXPECT_EQ(transport_.closed, Transport::Close::Flushed);
  EXPECT_FALSE(transport_.reading);
  EXPECT_STREQ(record_.reason, "stdin-closed");
}

TEST_F(AnEnd, WithAnInstanceWaitsForTheEndOfItsTree) {
  attach();
  end_->end(EndReason::InputClosed, note());
  exchange_.settle();
  EXPECT_EQ(attachment_.router(), nullptr);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(transport_.exits, IsEmpty());
  exit_server();
  EXPECT_THAT(told_, ElementsAre(cause_name(pool::Cause::SessionEnded)));
  EXPECT_THAT(transport_.exits, ElementsAre(std::pair(0, std::string())));
}

TEST_F(AnEnd, AnswersWhatWaitsIfTheClientStillReads) {
  wait(call("1"));
  wait(cancelled("9"));
  wait(call("\"two\""));
  end_->end(EndReason::ShuttingDown, {});
  const std::string code = std::to_string(wire::kShuttingDown);
  EXPECT_THAT(transport_.lines,
              ElementsAre(AllOf(HasSubstr(R"("id":1)"), HasSubstr(code), HasSubstr("shutting-down")),
                          AllOf(HasSubstr(R"("id":"two")"), HasSubstr(code))));
  EXPECT_TRUE(deferred_.empty());
}

TEST_F(AnEnd, AnswersNothingToAClientThatIsGone) {
  wait(call("1"));
  end_->end(EndReason::ClientGone, {});
  EXPECT_THAT(transport_.lines, IsEmpty());
  EXPECT_EQ(transport_.closed, Transport::Close::AtOnce);
}

TEST_F(AnEnd, ThatIsAskedForTwiceKeepsItsFirstReasonAndTellsTheSecondCallerAtOnce) {
  attach();
  end_->end(EndReason::InputClosed, note());
  end_->end(EndReason::Expired, note());
  EXPECT_THAT(told_, ElementsAre("none"));
  EXPECT_STREQ(record_.reason, "stdin-closed");
  exit_server();
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_EQ(transport_.exits.size(), 1U);
}

TEST_F(AnEnd, IsFasterWhenTheClientIsGoneInTheMeantime) {
  attach();
  end_->end(EndReason::InputClosed, {});
  exchange_.settle();
  EXPECT_EQ(exchange_.server().stops_told(), 0U);
  end_->end(EndReason::ClientGone, {});
  exchange_.settle();
  EXPECT_EQ(exchange_.server().stops_told(), 1U);
}

TEST_F(AnEnd, TellsTheClientWhyIfItsServerWasRemovedOrItsObjectHasEnded) {
  attachment_.withdraw("server files was removed");
  end_->end(EndReason::Removed, {});
  EXPECT_THAT(transport_.exits, ElementsAre(std::pair(1, std::string("server files was removed"))));
  transport_.exits.clear();

  end_.emplace(exchange_.loop, SessionEnd::Parts{port_, record_, transport_, exchange_.pool, attachment_,
                                                 opening_, deferred_, crossing_});
  end_->end(EndReason::SessionEnded, {});
  EXPECT_THAT(transport_.exits, ElementsAre(std::pair(0, std::string("the session ended"))));
}

TEST_F(AnEnd, TellsNoTransportOnceItIsDestroyed) {
  attach();
  end_->end(EndReason::InputClosed, note());
  end_.reset();
  exit_server();
  EXPECT_THAT(told_, ElementsAre(cause_name(pool::Cause::SessionEnded)));
  EXPECT_THAT(transport_.exits, IsEmpty());
}

TEST_F(AnEnd, WithItsServerPassesTheExitCodeOnAndAnswersWhatWaits) {
  wait(call("1"));
  end_->end_with_server(3, "server files exited with code 3");
  EXPECT_TRUE(end_->ended());
  EXPECT_TRUE(end_->server_lost());
  EXPECT_THAT(transport_.lines, ElementsAre(AllOf(HasSubstr(std::to_string(wire::kServerLost)),
                                                  HasSubstr("exited with code 3"))));
  EXPECT_THAT(transport_.exits, ElementsAre(std::pair(3, std::string("server files exited with code 3"))));

  end_->end_with_server(4, "again");
  end_->end(EndReason::InputClosed, note());
  EXPECT_EQ(transport_.exits.size(), 1U);
  EXPECT_THAT(told_, ElementsAre("none"));
}

TEST_F(AnEnd, AfterTheLastMessageComesAtOnceIfNoCallIsOpen) {
  port_.say_no_more();
  end_->input_ended();
  EXPECT_TRUE(end_->ended());
  EXPECT_STREQ(record_.reason, "stdin-closed");
}

TEST_F(AnEnd, AfterTheLastMessageWaitsForWhatIsDeferredAMinuteAtMost) {
  wait(call("1"));
  port_.say_no_more();
  end_->input_ended();
  pass(milliseconds(59'999));
  EXPECT_FALSE(end_->ended());
  pass(milliseconds(1));
  EXPECT_TRUE(end_->ended());
  EXPECT_THAT(transport_.lines, ElementsAre(HasSubstr(std::to_string(wire::kShuttingDown))));
}

TEST_F(AnEnd, AfterTheLastMessageComesWithTheLastAnswer) {
  wait(call("1"));
  port_.say_no_more();
  end_->input_ended();
  ASSERT_FALSE(end_->ended());
  deferred_.take_first();
  end_->end_if_answered();
  EXPECT_TRUE(end_->ended());
}

TEST_F(AnEnd, IsNotDueWhileTheClientMayAskOrItsServerWasLost) {
  end_->end_if_answered();
  EXPECT_FALSE(end_->ended()) << "the client may ask";
  port_.say_no_more();
  end_->note_server_lost();
  end_->end_if_answered();
  EXPECT_FALSE(end_->ended()) << "it ends with its server";
}

}  // namespace
}  // namespace corral::tests
