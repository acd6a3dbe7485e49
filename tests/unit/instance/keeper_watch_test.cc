// The watch on a keeper, which is one end of a socket here: the test decides what the keeper reports and
// when.
#include "instance/keeper_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "base/held_clock.h"
#include "keeper/plan.h"

namespace corral::instance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Input = KeeperWatch::Input;

class OneKeeper : public testing::Test, protected KeeperWatch::Events {
 protected:
  OneKeeper() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    keeper_ = UniqueFd(ends[1]);
    proc::ProcessTree::Parts parts;
    parts.instance = "1a2b3c4d";
    parts.keeper = 1'000'000;  // does not exist
    parts.lifeline = UniqueFd(ends[0]);
    tree_ = std::make_unique<proc::ProcessTree>(std::move(parts));
    KeeperWatch::Events& events = *this;
    watch_ = std::make_unique<KeeperWatch>(loop_, *tree_, "/bin/fake", events);
  }

  void on_server_started(const keeper::Event& event) override {
    happened_.push_back("started " + std::to_string(event.server));
  }
  void on_tree_ended(const keeper::Event& event) override {
    happened_.emplace_back(event.kind == keeper::Event::Kind::Failed ? "failed" : "ended");
    if (destroys_) watch_.reset();
  }
  void on_keeper_lost(KeeperWatch::Loss loss) override {
    happened_.emplace_back(loss == KeeperWatch::Loss::TooSlow ? "too slow" : "killed");
    if (destroys_) watch_.reset();
  }

  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop_.run_due();
  }
  void pass(Clock::duration time) {
    clock_.pass(time);
    settle();
  }
  void report(keeper::Event::Kind kind) {
    keeper::Event event{};
    event.kind = kind;
    event.server = 4711;
    ASSERT_EQ(send(keeper_.get(), &event, sizeof event, 0), static_cast<ssize_t>(sizeof event));
    settle();
  }
  /// The reasons for which the keeper was asked to end its tree since the last call.
  std::vector<keeper::Reason> asked() {
    std::vector<keeper::Reason> reasons;
    keeper::Command command{};
    while (recv(keeper_.get(), &command, sizeof command, MSG_DONTWAIT) > 0) {
      if (command.kind == keeper::Command::Kind::Stop) reasons.push_back(command.reason);
    }
    return reasons;
  }
  std::vector<std::string> happened() { return std::exchange(happened_, {}); }
  /// All the time that a keeper without a plan has for a hasty end, with the margin.
  static Clock::duration time_to_end() { return keeper::longest_end({}) + seconds(3); }

  tests::HeldClock clock_;
  Loop loop_;
  UniqueFd keeper_;
  std::unique_ptr<proc::ProcessTree> tree_;
  std::unique_ptr<KeeperWatch> watch_;
  bool destroys_ = false;
  std::vector<std::string> happened_;
};

TEST_F(OneKeeper, PassesOnTheStartAndTheEnd) {
  report(keeper::Event::Kind::Started);
  EXPECT_THAT(happened(), ElementsAre("started 4711"));

  report(keeper::Event::Kind::Ended);
  keeper_.reset();
  settle();
  EXPECT_THAT(happened(), ElementsAre("ended")) << "nothing follows the end, not even the end of the keeper";
}

TEST_F(OneKeeper, PassesOnAServerThatCouldNotBeStarted) {
  report(keeper::Event::Kind::Failed);
  EXPECT_THAT(happened(), ElementsAre("failed"));
}

TEST_F(OneKeeper, ThatIsGoneWithoutAReportWasKilled) {
  keeper_.reset();
  settle();
  EXPECT_THAT(happened(), ElementsAre("killed"));
}

TEST_F(OneKeeper, IsNotAskedForAPoliteEndWhileTheServerCanSeeTheEndOfItsInput) {
  watch_->end(Haste::Polite, Input::Closed);
  pass(seconds(3));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(OneKeeper, IsAskedAfterTwoSecondsForTheEndOfAServerThatDoesNotReadItsInput) {
  watch_->end(Haste::Polite, Input::HasUnread);
  pass(milliseconds(1999));
  EXPECT_THAT(asked(), IsEmpty());
  pass(milliseconds(1));
  EXPECT_THAT(asked(), ElementsAre(keeper::Reason::Signal));
}

TEST_F(OneKeeper, IsAskedAtOnceForAHastyEnd) {
  watch_->end(Haste::ClientGone, Input::HasUnread);
  EXPECT_THAT(asked(), ElementsAre(keeper::Reason::ClientGone));
  watch_->end(Haste::Now, Input::HasUnread);
  EXPECT_THAT(asked(), ElementsAre(keeper::Reason::Signal));
}

TEST_F(OneKeeper, ThatDoesNotEndItsTreeInTimeIsGivenUp) {
  watch_->end(Haste::Now, Input::Closed);
  pass(time_to_end() + milliseconds(1999));
  EXPECT_THAT(happened(), IsEmpty()) << "it was killed and has two seconds to be gone";
  pass(milliseconds(2000));
  EXPECT_THAT(happened(), ElementsAre("too slow"));
}

TEST_F(OneKeeper, WhoseEndFollowsItsKillWasTooSlow) {
  watch_->end(Haste::Now, Input::Closed);
  pass(time_to_end());
  keeper_.reset();
  settle();
  EXPECT_THAT(happened(), ElementsAre("too slow"));
}

TEST_F(OneKeeper, HasNoMoreTimeBecauseItIsAskedAgain) {
  watch_->end(Haste::Now, Input::Closed);
  pass(time_to_end() - milliseconds(1));
  watch_->end(Haste::Now, Input::Closed);
  pass(milliseconds(1));
  pass(seconds(2));
  EXPECT_THAT(happened(), ElementsAre("too slow"));
}

TEST_F(OneKeeper, HasLessTimeWhenTheEndBecomesHastier) {
  watch_->end(Haste::Polite, Input::Closed);
  watch_->end(Haste::Now, Input::Closed);
  pass(time_to_end());
  pass(seconds(2));
  EXPECT_THAT(happened(), ElementsAre("too slow"));
}

TEST_F(OneKeeper, IsNotWatchedAfterCancel) {
  watch_->end(Haste::Polite, Input::HasUnread);
  watch_->cancel();
  keeper_.reset();
  pass(std::chrono::hours(1));
  EXPECT_THAT(happened(), IsEmpty());
}

TEST_F(OneKeeper, MayLoseItsWatchFromWithinTheLastEvent) {
  destroys_ = true;
  watch_->end(Haste::Polite, Input::HasUnread);
  report(keeper::Event::Kind::Ended);
  pass(std::chrono::hours(1));
  EXPECT_THAT(happened(), ElementsAre("ended"));
}

}  // namespace
}  // namespace corral::instance
