#include "transport/process_lease.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/held_clock.h"

namespace corral::transport {
namespace {

using Stage = LeaseState::Stage;

constexpr std::uint64_t kOne = 11;
constexpr std::uint64_t kOther = 12;

TEST(LeaseState, BindsAtTheSecondMessageOfTheSameProcess) {
  LeaseState state;

  EXPECT_EQ(state.message_from(kOne), Stage::Seen);
  EXPECT_EQ(state.message_from(kOne), Stage::Bound);
  EXPECT_EQ(state.message_from(kOne), Stage::Bound);
}

TEST(LeaseState, AProgramForEachMessageNeverBinds) {
  LeaseState state;
  state.message_from(kOne);

  EXPECT_EQ(state.message_from(kOther), Stage::Unbound);
  EXPECT_EQ(state.message_from(kOther), Stage::Unbound);
}

TEST(LeaseState, ASecondProcessUnbindsForGood) {
  LeaseState state;
  state.message_from(kOne);
  state.message_from(kOne);

  EXPECT_EQ(state.message_from(kOther), Stage::Unbound);
  EXPECT_EQ(state.message_from(kOne), Stage::Unbound);
  EXPECT_EQ(state.message_from(kOne), Stage::Unbound);
}

TEST(LeaseState, AnOwnerThatCannotBeToldUnbindsForGoodAtAnyTime) {
  for (int messages = 0; messages < 3; ++messages) {
    LeaseState state;
    for (int i = 0; i < messages; ++i) state.message_from(kOne);

    EXPECT_EQ(state.message_from(std::nullopt), Stage::Unbound) << messages;
    EXPECT_EQ(state.message_from(kOne), Stage::Unbound) << messages;
  }
}

/// A lease on a process that "exits" when the test closes a pipe.
class BoundLease : public testing::Test {
 protected:
  BoundLease() {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    owner_ = {4711, kOne, std::make_shared<const UniqueFd>(ends[0])};
    alive_ = UniqueFd(ends[1]);
  }
  void process_exits() {
    alive_.reset();
    loop_.run_due();
  }
  void pass(Clock::duration time) {
    clock_.pass(time);
    loop_.run_due();
  }

  tests::HeldClock clock_;
  Loop loop_;
  OwnerFinder finder_{loop_};
  Owner owner_;
  UniqueFd alive_;
  int over_ = 0;
};

TEST_F(BoundLease, IsBoundAtOnceToAProcessThatIsKnown) {
  ProcessLease lease(loop_, finder_, [this] { ++over_; });
  EXPECT_EQ(lease.bound_to(), 0);
  lease.bind_to(owner_);
  EXPECT_EQ(lease.bound_to(), 4711);
}

TEST_F(BoundLease, IsOverOneSecondAfterItsProcessHasExited) {
  ProcessLease lease(loop_, finder_, [this] { ++over_; });
  lease.bind_to(owner_);
  pass(std::chrono::hours(1));
  process_exits();
  pass(std::chrono::milliseconds(999));
  EXPECT_EQ(over_, 0);
  pass(std::chrono::milliseconds(1));
  EXPECT_EQ(over_, 1);
  pass(std::chrono::seconds(10));
  EXPECT_EQ(over_, 1);
}

TEST_F(BoundLease, MayBeDestroyedByTheCallbackAndCallsNothingAfterwards) {
  std::unique_ptr<ProcessLease> lease;
  lease = std::make_unique<ProcessLease>(loop_, finder_, [&] {
    ++over_;
    lease.reset();
  });
  auto other = std::make_unique<ProcessLease>(loop_, finder_, [this] { over_ += 100; });
  lease->bind_to(owner_);
  other->bind_to(owner_);
  process_exits();
  other.reset();
  pass(ProcessLease::kGrace);
  EXPECT_EQ(over_, 1);
  EXPECT_EQ(lease, nullptr);
}

}  // namespace
}  // namespace corral::transport
