#include "transport/lease_state.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace corral::transport
