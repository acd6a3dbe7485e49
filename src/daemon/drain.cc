#include "daemon/drain.h"

#include <utility>

#include "base/log.h"

namespace corral::daemon {
namespace {

using Haste = instance::Instance::Haste;

constexpr std::chrono::milliseconds kDrainInterval{10};

}  // namespace

// ---- the plan

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

// ---- carrying it out

Drain::Drain(Loop& loop, ConnectedSessions& sessions, OwnedSessions& owned, pool::Pool& pool)
    : sessions_(sessions), owned_(owned), pool_(pool), timer_(loop) {}

void Drain::run(Clock::duration patience, Done done) {
  if (plan_.phase() == DrainPlan::Phase::Over) return done(drained_);
  waiting_.push_back(std::move(done));
  if (begun()) return plan_.hurry();
  plan_.begin(Clock::now(), patience);
  owned_.close();
  drained_ = {sessions_.size(), pool_.living()};
  step();
}

void Drain::step() {
  using Step = DrainPlan::Step;
  const Clock::time_point now = Clock::now();
  Step next = plan_.next(now, left());
  if (next == Step::EndSessions) {
    end_sessions();
    next = plan_.next(now, left());
  }
  if (next == Step::GiveUp) log_line("some processes did not end in time; `corral doctor` shows them");
  if (next == Step::Finish || next == Step::GiveUp) {
    for (const Done& done : std::exchange(waiting_, {})) done(drained_);
    return;
  }
  if (next == Step::Hurry) pool_.stop_all(Haste::Now);
  timer_.start(kDrainInterval, [this] { step(); });
}

void Drain::end_sessions() {
  const std::vector<InstanceId> busy = pool_.with_calls();
  for (auto& [id, connected] : sessions_) connected.session().end(session::EndReason::ShuttingDown);
  pool_.stop_all(Haste::Polite);
  // Their time is up. They may not be reading, and unread input would delay the end by a minute.
  for (const InstanceId& instance : busy) pool_.kill(instance);
}

DrainPlan::Left Drain::left() const {
  return {!pool_.with_calls().empty(), !sessions_.empty(), pool_.living() > 0};
}

}  // namespace corral::daemon
