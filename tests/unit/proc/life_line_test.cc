// The handle of a tree and what it makes of its keeper's packets; the test is the keeper.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>

#include "proc/process_tree.h"

namespace corral::proc {
namespace {

using keeper::Command;
using keeper::Event;
using keeper::Refusal;

class LifeLine : public testing::Test {
 protected:
  LifeLine() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    keeper_ = UniqueFd(ends[0]);
    ProcessTree::Parts parts;
    parts.lifeline = UniqueFd(ends[1]);
    tree_ = std::make_unique<ProcessTree>(std::move(parts));
  }

  template <class Packet>
  void tell(const Packet& packet, std::size_t size = sizeof(Packet)) const {
    EXPECT_EQ(send(keeper_.get(), &packet, size, 0), static_cast<ssize_t>(size));
  }

  Command heard() const {
    Command command{Command::Kind::Stop};
    EXPECT_EQ(recv(keeper_.get(), &command, sizeof command, MSG_DONTWAIT),
              static_cast<ssize_t>(sizeof command));
    return command;
  }

  UniqueFd keeper_;
  std::unique_ptr<ProcessTree> tree_;
  std::unique_ptr<Event> event_ = std::make_unique<Event>();  // too large for a stack
};

TEST_F(LifeLine, GivesEventsInOrderAndNothingWhenThereIsNone) {
  EXPECT_EQ(tree_->take_event(), nullptr);
  event_->kind = Event::Kind::Started;
  event_->server = 42;
  tell(*event_);
  event_->kind = Event::Kind::Ended;
  tell(*event_);

  const Event* event = tree_->take_event();
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->kind, Event::Kind::Started);
  EXPECT_EQ(event->server, 42);
  event = tree_->take_event();
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->kind, Event::Kind::Ended);
  EXPECT_EQ(tree_->take_event(), nullptr);
}

TEST_F(LifeLine, ARefusalIsAStartThatFailedOfAnotherBuild) {
  event_->kind = Event::Kind::Started;
  event_->server = 42;
  tell(*event_);
  ASSERT_NE(tree_->take_event(), nullptr);
  Refusal refusal;
  memset(refusal.build, 'x', sizeof refusal.build);
  tell(refusal);

  const Event* event = tree_->take_event();

  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->kind, Event::Kind::Failed);
  EXPECT_EQ(event->stage, keeper::Stage::Plan);
  EXPECT_EQ(event->server, 0) << "nothing of an earlier event";
  EXPECT_EQ(std::string(event->helper_build), std::string(sizeof refusal.build - 1, 'x'));
}

TEST_F(LifeLine, APacketOfNoKindIsNone) {
  Refusal refusal;
  refusal.word[0] = 'N';
  tell(refusal);
  EXPECT_EQ(tree_->take_event(), nullptr);

  tell(*event_, 5);
  EXPECT_EQ(tree_->take_event(), nullptr);
}

TEST_F(LifeLine, TellsTheKeeperToStopAndWhichSignalToHandOn) {
  tree_->stop(keeper::Reason::ClientGone);
  const Command stop = heard();
  EXPECT_EQ(stop.kind, Command::Kind::Stop);
  EXPECT_EQ(stop.reason, keeper::Reason::ClientGone);
  EXPECT_EQ(stop.signo, 0);

  tree_->forward(SIGUSR1);
  const Command forward = heard();
  EXPECT_EQ(forward.kind, Command::Kind::Forward);
  EXPECT_EQ(forward.signo, SIGUSR1);
}

TEST_F(LifeLine, ToAKeeperThatIsGoneNothingIsSaid) {
  keeper_.reset();

  tree_->stop(keeper::Reason::Signal);

  EXPECT_EQ(tree_->take_event(), nullptr);
  EXPECT_FALSE(tree_->wait_ended());
}

TEST_F(LifeLine, TheReportOfTheEndIsWaitedForBehindTheStart) {
  event_->kind = Event::Kind::Started;
  tell(*event_);
  event_->kind = Event::Kind::Ended;
  event_->report.ended_total = 7;
  tell(*event_);

  const std::optional<keeper::Report> report = tree_->wait_ended();

  ASSERT_TRUE(report);
  EXPECT_EQ(report->ended_total, 7U);
}

}  // namespace
}  // namespace corral::proc
