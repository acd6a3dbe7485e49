#include "events/event.h"

#include "base/loop.h"

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

TEST(SlowTurn, IsToldInOneSentence) {
  EXPECT_EQ(event_of({230ms, 400ms, 3, {"stderr", 2, 7}}).text,
            "one turn of the daemon's loop took 230 ms of CPU time (400 ms wall time, 3 calls) and delayed "
            "all sessions; most of it went to stderr: 2, 7 bytes");
}

TEST(SlowTurn, OfWorkThatNobodyNamedIsToldAllTheSame) {
  const Event event = event_of({230ms, 400ms, 3, {}});
  EXPECT_EQ(event.cause, "unknown");
  EXPECT_THAT(event.text, HasSubstr("most of it went to unknown: 0, 0 bytes"));
}

TEST(SlowTurn, HasANameForItsKind) { EXPECT_EQ(kind_called("slow-turn"), Kind::SlowTurn); }

}  // namespace
}  // namespace corral::events
