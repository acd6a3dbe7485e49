#include "daemon/drain_plan.h"

#include <utility>

namespace corral::daemon {

void DrainPlan::begin(Clock::time_point now, Clock::duration patience) {
  phase_ = Phase::WaitingForCalls;
  until_ = now + patience;
}

DrainPlan::Step DrainPlan::next(Clock::time_point now, const Left& left) {
  if (phase_ == Phase::WaitingForCalls) {
    if (left.calls && !hurried_ && now < until_) return Step::Wait;
    phase_ = Phase::Ending;
    hurried_ = false;
    until_ = now + kLastPatience;
    return Step::EndSessions;
  }
  if (phase_ != Phase::Ending) return Step::Wait;
  const bool gone = !left.sessions && !left.instances;
  if (gone || now >= until_) {
    phase_ = Phase::Over;
    return gone ? Step::Finish : Step::GiveUp;
  }
  return std::exchange(hurried_, false) ? Step::Hurry : Step::Wait;
}

}  // namespace corral::daemon
