#include "session/phase.h"

#include <gtest/gtest.h>

namespace corral::session {
namespace {

TEST(SessionPhase, LeadsFromTheFirstRequestToAnInstance) {
  EXPECT_EQ(next(Phase::New, PhaseEvent::FirstRequest), Phase::Opening);
  EXPECT_EQ(next(Phase::Opening, PhaseEvent::InstanceReady), Phase::Ready);
}

TEST(SessionPhase, IsNewAgainIfTheFirstRequestGetsNoInstance) {
  EXPECT_EQ(next(Phase::Opening, PhaseEvent::NoInstance), Phase::New);
}

TEST(SessionPhase, NeedsNoInstanceIfTheServerIsKnown) {
  EXPECT_EQ(next(Phase::Opening, PhaseEvent::Known), Phase::Away);
  EXPECT_EQ(next(Phase::Away, PhaseEvent::InstanceAsked), Phase::Returning);
  EXPECT_EQ(next(Phase::Returning, PhaseEvent::InstanceReady), Phase::Ready);
}

TEST(SessionPhase, WaitsForTheInstanceAfterAnEarlyGreeting) {
  EXPECT_EQ(next(Phase::Opening, PhaseEvent::GreetedEarly), Phase::Returning);
}

TEST(SessionPhase, IsAwayWheneverTheInstanceIsLostOrRefused) {
  for (const Phase phase : {Phase::Ready, Phase::Away, Phase::Returning}) {
    EXPECT_EQ(next(phase, PhaseEvent::InstanceLost), Phase::Away);
    EXPECT_EQ(next(phase, PhaseEvent::NoInstance), Phase::Away);
  }
}

TEST(SessionPhase, IsNewAfterAReset) {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    EXPECT_EQ(next(static_cast<Phase>(phase), PhaseEvent::Reset), Phase::New);
  }
}

TEST(SessionPhase, AnOpenSessionIsNotOpenedTwice) {
  for (const Phase phase : {Phase::Opening, Phase::Ready, Phase::Away, Phase::Returning}) {
    EXPECT_EQ(next(phase, PhaseEvent::FirstRequest), phase);
  }
}

}  // namespace
}  // namespace corral::session
