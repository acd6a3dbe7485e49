#include "router/health_watch.h"

#include <utility>

#include "base/log.h"

namespace corral::router {

HealthWatch::HealthWatch(Loop& loop, const RouterOptions& options, RouterCounters& counters, Learner& learner,
                         Server server)
    : options_(options), counters_(counters), learner_(learner), server_(std::move(server)), timer_(loop) {}

void HealthWatch::start() {
  if (options_.probe.count() <= 0) return;
  using Pings = instance::Health::Pings;
  health_.emplace(options_.probe, options_.answers_probes ? Pings::Answered : Pings::NeverAnswered,
                  Clock::now());
  timer_.start(options_.probe, [this] { look(); });
}

void HealthWatch::look() {
  using Advice = instance::Health::Advice;
  const instance::Health::Verdict verdict =
      health_->look(Clock::now(), {.busy = server_.busy(), .said = messages_});
  if (verdict.advice == Advice::Hung) {
    log_line("server " + options_.server + " did not answer two probes: ending it");
    return server_.hung();
  }
  if (verdict.advice == Advice::AskAgain) ++counters_.missed_probes;
  if (verdict.advice != Advice::Wait || !health_->asking()) server_.drop_probe(probe_);
  if (verdict.advice != Advice::Wait) probe_ = server_.send_probe();
  timer_.start(verdict.next, [this] { look(); });
}

void HealthWatch::answered() {
  if (!health_->proven()) learner_.on_probe_answered();
  health_->answered();
}

}  // namespace corral::router
