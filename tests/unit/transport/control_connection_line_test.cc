// The line back to a shim, and its end.
#include <gtest/gtest.h>

#include "transport/control_line.h"
#include "version.h"

namespace corral::transport {
namespace {

using control::encode;
using control::Reply;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kPiece = std::size_t{32} << 10;
constexpr std::size_t kMost = ControlConnection::kMostQueued;

std::string error_lines(std::string_view bytes) {
  return encode(Reply{Reply::Kind::Stderr, "", 0, bytes.size(), 0, ""}) + std::string(bytes);
}
std::string note_line(const std::string& sentence) {
  return encode(Reply{Reply::Kind::Note, sentence, 0, 0, 0, ""});
}
std::string exit_line(int code, const std::string& why) {
  return encode(Reply{Reply::Kind::Exit, why, code, 0, 0, ""});
}
std::string dropped_line(std::size_t bytes) {
  return note_line(std::to_string(bytes) +
                   " bytes of the server's stderr were dropped because they were not read in time");
}

TEST_F(ControlLine, SaysEverythingInOrderAndEndsWithTheExit) {
  ShimLine& line = let_in();
  line.accept();
  line.note("a word");
  line.error_output("from the server\n");
  line.error_output("");
  EXPECT_EQ(heard(), encode(Reply{Reply::Kind::Accepted, "", 0, 0, control::kProtocol, kVersion}) +
                         note_line("a word") + error_lines("from the server\n"));
  EXPECT_EQ(finished_, 0);

  line.exit(3, "because");

  EXPECT_EQ(heard(), exit_line(3, "because"));
  EXPECT_TRUE(over_);
  EXPECT_EQ(finished_, 1);
  line.note("too late");
  line.error_output("too late");
  line.exit(4, "too late");
  EXPECT_EQ(heard(), "");
}

TEST_F(ControlLine, TellsAShimToRunItItselfAndHangsUp) {
  let_in().run_it("no room");

  EXPECT_EQ(heard(), encode(Reply{Reply::Kind::RunIt, "no room", 0, 0, 0, ""}));
  EXPECT_TRUE(over_);
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlLine, CutsErrorOutputIntoPieces) {
  ShimLine& line = let_in();
  line.error_output(std::string(2 * kPiece + 1, 'e'));

  const std::string piece(kPiece, 'e');
  EXPECT_TRUE(heard() == error_lines(piece) + error_lines(piece) + error_lines("e"));
}

/// A line on which 31 pieces wait; each further byte matters.
class FullControlLine : public ControlLine {
 protected:
  void SetUp() override {
    ControlLine::SetUp();
    UniqueFd copy(dup(copy_.get()));
    let_in();
    copy_ = std::move(copy);
    junk_ = fill_socket();
    let_go();
    const std::string piece(kPiece, 'e');
    for (int i = 0; i < 31; ++i) {
      line().error_output(piece);
      waits_ += error_lines(piece);
    }
    ASSERT_EQ(context_->counters.dropped_stderr, 0U);
    ASSERT_GT(waits_.size() + kPiece, kMost);
  }

  ShimLine& line() { return *connection_; }
  std::size_t room() const { return kMost - waits_.size(); }
  /// What is heard behind what the socket was filled with.
  std::string heard_behind_junk() { return heard().substr(junk_); }

  std::size_t junk_ = 0;
  std::string waits_;
};

TEST_F(FullControlLine, TakesErrorOutputToTheLastByte) {
  const std::string last(room(), 'l');
  line().error_output(last);

  EXPECT_EQ(context_->counters.dropped_stderr, 0U);
  EXPECT_TRUE(heard_behind_junk() == waits_ + error_lines(last));
}

TEST_F(FullControlLine, DropsWhatIsTooMuchAndEverythingBehindItUntilThereIsRoom) {
  line().error_output(std::string(room() + 1, 'l'));
  line().error_output("not a gap of its own");
  EXPECT_EQ(context_->counters.dropped_stderr, room() + 1 + 20);

  EXPECT_TRUE(heard_behind_junk() == waits_ + dropped_line(room() + 21));
  line().error_output("it flows again");
  EXPECT_EQ(heard(), error_lines("it flows again")) << "and the gap is told once";
}

TEST_F(FullControlLine, TellsOfAGapBeforeTheExit) {
  line().error_output(std::string(kPiece, 'l'));
  line().exit(0, "");

  EXPECT_TRUE(heard_behind_junk() == waits_ + dropped_line(kPiece) + exit_line(0, ""));
  EXPECT_TRUE(over_);
  EXPECT_EQ(finished_, 1);
}

TEST_F(FullControlLine, TakesNotesUntilItIsFull) {
  const std::string filler(room() - note_line("x").size() + 1, 'n');
  ASSERT_EQ(waits_.size() + note_line(filler).size(), kMost);
  line().note(filler);
  line().note("one too many");

  EXPECT_TRUE(heard_behind_junk() == waits_ + note_line(filler));
}

TEST_F(FullControlLine, TakesANoteWhenOneByteIsLeft) {
  const std::string filler(room() - note_line("x").size(), 'n');
  line().note(filler);
  line().note("the last");

  EXPECT_TRUE(heard_behind_junk() == waits_ + note_line(filler) + note_line("the last"));
}

TEST_F(FullControlLine, WaitsTenSecondsForAShimToHearItsExit) {
  line().exit(0, "");
  pass(seconds(10) - milliseconds(1));
  EXPECT_EQ(finished_, 0);
  pass(milliseconds(1));

  EXPECT_EQ(finished_, 1);
  EXPECT_TRUE(heard_behind_junk().empty());
  EXPECT_TRUE(over_);
}

TEST_F(FullControlLine, NoticesWhileItWritesThatNobodyReads) {
  int told = 0;
  line().when_gone([&] { ++told; });
  shim_.reset();
  line().error_output("x");
  EXPECT_EQ(told, 0) << "not from within the call";
  turn();

  EXPECT_EQ(told, 1);
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlLine, TellsOnceThatItsShimIsGone) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  turn();
  EXPECT_EQ(told, 0);
  shim_.reset();
  turn();

  EXPECT_EQ(told, 1);
  EXPECT_EQ(finished_, 1);
  line.when_gone([&] { ++told; });
  EXPECT_EQ(told, 1) << "not from within the call";
  turn();
  EXPECT_EQ(told, 2) << "who asks late is told, too";
}

TEST_F(ControlLine, ForgetsWhoNoLongerWantsToKnowThatItsShimIsGone) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  line.when_gone(nullptr);
  shim_.reset();
  turn();
  line.when_gone([&] { ++told; });
  line.when_gone(nullptr);
  turn();

  EXPECT_EQ(told, 0);
}

TEST_F(ControlLine, SaysNothingOfAShimThatLeavesAfterItsExit) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  line.exit(0, "");
  shim_.reset();
  turn();

  EXPECT_EQ(told, 0);
}

TEST_F(ControlLine, WaitsThirtySecondsForTheEndOfASessionWhoseShimWantsToLeave) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  shutdown(shim_.get(), SHUT_WR);
  turn();
  EXPECT_EQ(told, 1);
  pass(seconds(30) - milliseconds(1));
  EXPECT_EQ(finished_, 0);
  line.note("still heard");
  EXPECT_EQ(heard(), note_line("still heard"));

  pass(milliseconds(1));

  EXPECT_EQ(told, 1);
  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
}

TEST_F(ControlLine, EndsAtOnceWhenAShimThatWantedToLeaveIsGone) {
  let_in();
  shutdown(shim_.get(), SHUT_WR);
  turn();
  EXPECT_EQ(finished_, 0);
  shim_.reset();
  turn();

  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlLine, LetsAScriptThatClosedItsHalfWaitForItsAnswer) {
  let_go();
  send(encode(hello_for(control::Verb::Shutdown)));
  shutdown(shim_.get(), SHUT_WR);
  pass(seconds(600));
  ASSERT_EQ(opener_.answers.size(), 1U);
  EXPECT_EQ(finished_, 0);

  opener_.answers[0](Reply{Reply::Kind::Exit, "done", 0, 0, 0, ""});

  EXPECT_EQ(heard(), exit_line(0, "done"));
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlLine, IgnoresSomeBytesBehindTheHelloAndThenHangsUp) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  send(std::string(4000, 'x'));
  send(std::string(96, 'x'));
  EXPECT_EQ(told, 0);
  EXPECT_EQ(finished_, 0);
  send("x");

  EXPECT_EQ(told, 1);
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlLine, IsAbandonedWithoutAWord) {
  ShimLine& line = let_in();
  int told = 0;
  line.when_gone([&] { ++told; });
  connection_->abandon();
  turn();

  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_) << "but it is closed";
  EXPECT_EQ(told, 0);
  EXPECT_EQ(finished_, 0);
}

TEST_F(ControlLine, MayBeHeldForLongerThanItIsOpen) {
  let_in();
  opener_.lines[0]->exit(0, "");
  EXPECT_EQ(heard(), exit_line(0, ""));
  pass(seconds(60));

  EXPECT_EQ(finished_, 1) << "the time for last words is over, too";
}

}  // namespace
}  // namespace corral::transport
