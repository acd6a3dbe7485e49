#include "instance/health.h"

namespace corral::instance {
namespace {

constexpr Clock::duration kLongestPatience = std::chrono::seconds(15);
// If a look is this late, the machine slept or was overloaded, and so was the server.
constexpr Clock::duration kOverslept = std::chrono::seconds(5);

}  // namespace

Health::Health(Clock::duration interval, Pings pings, Clock::time_point now)
    : interval_(interval),
      patience_(std::min(interval * 5, kLongestPatience)),
      due_(now + interval),
      proven_(pings == Pings::Answered) {}

Health::Verdict Health::wait(Clock::time_point now, Clock::duration time) {
  due_ = now + time;
  return {Advice::Wait, time};
}

Health::Verdict Health::look(Clock::time_point now, const Activity& activity) {
  const bool spoke = activity.said != said_;
  said_ = activity.said;
  if (activity.busy || spoke) {
    asked_.reset();
    misses_ = 0;
    return wait(now, interval_);
  }
  if (now > due_ + kOverslept) {
    if (asked_) asked_ = now;  // its time begins now
    return wait(now, asked_ ? patience_ : interval_);
  }
  if (asked_) return judge_silence(now);
  asked_ = now;
  due_ = now + patience_;
  return {Advice::Ask, patience_};
}

Health::Verdict Health::judge_silence(Clock::time_point now) {
  const Clock::duration waited = now - *asked_;
  if (waited < patience_) return wait(now, patience_ - waited);
  if (!proven_) {
    asked_.reset();
    return wait(now, interval_);
  }
  ++misses_;
  asked_ = now;
  due_ = now + patience_;
  return {misses_ > 1 ? Advice::Hung : Advice::AskAgain, patience_};
}

}  // namespace corral::instance
