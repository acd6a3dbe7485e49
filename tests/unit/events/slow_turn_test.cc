#include "events/slow_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::events {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(SlowTurn, IsAnEventThatSaysWhatTookLong) {
  const Event event = event_of({230ms, 400ms, 3, {"client-messages", 512, 73'000}});

  EXPECT_EQ(event.kind, Kind::SlowTurn);
  EXPECT_EQ(event.cause, "client-messages");
  EXPECT_EQ(event.took, 230ms);
  EXPECT_EQ(event.count, 512U);
  EXPECT_THAT(to_json(event), AllOf(HasSubstr(R"("kind":"slow-turn")"), HasSubstr(R"("took_ms":230)"),
                                    HasSubstr("512, 73000 bytes")));
}

TEST(SlowTurn, HasANameForItsKind) { EXPECT_EQ(kind_called("slow-turn"), Kind::SlowTurn); }

}  // namespace
}  // namespace corral::events
