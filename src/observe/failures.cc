#include "observe/failures.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/utc_time.h"

namespace corral::observe {
namespace {

constexpr std::int64_t kShownFor = 10 * 60'000;
// Clients can bring their own servers, so their number is bounded.
constexpr std::size_t kMostFailing = 256;

}  // namespace

Failures::Failures(std::function<std::int64_t()> clock) : clock_(clock ? std::move(clock) : unix_time_ms) {}

void Failures::handle(const events::Event& event) {
  count(event.kind);
  if (event.kind == events::Kind::Ready) by_server_.erase(event.server);
  if (!events::is_failure(event.kind) || event.server.empty()) return;
  if (by_server_.size() >= kMostFailing && !by_server_.contains(event.server)) make_room();
  by_server_[event.server] = {event.time_ms, event.kind, events::sentence_of(event), event.error_lines};
}

void Failures::count(events::Kind kind) {
  if (kind == events::Kind::Failed) ++failed_starts_;
  if (kind == events::Kind::Refused) ++refusals_;
  if (kind == events::Kind::Crash) ++crashes_;
}

/// A refused client chooses the name freely if it came by socket, so refusals give way first.
void Failures::make_room() {
  const auto worth = [](const auto& one) {
    return std::pair(one.second.kind != events::Kind::Refused, one.second.time_ms);
  };
  by_server_.erase(
      std::min_element(by_server_.begin(), by_server_.end(),
                       [worth](const auto& one, const auto& other) { return worth(one) < worth(other); }));
}

void Failures::count_in(TotalsView& totals) const {
  totals.failed_starts = failed_starts_;
  totals.refusals = refusals_;
  totals.crashes = crashes_;
}

std::vector<FailureView> Failures::now() const {
  const std::int64_t now = clock_();
  std::vector<FailureView> views;
  for (const auto& [server, failure] : by_server_) {
    const std::int64_t age = std::max<std::int64_t>(now - failure.time_ms, 0);
    if (age <= kShownFor) {
      views.push_back(
          {server, failure.text, milliseconds(age), events::name_of(failure.kind), failure.error_lines});
    }
  }
  std::sort(views.begin(), views.end(),
            [](const FailureView& one, const FailureView& other) { return one.age < other.age; });
  return views;
}

}  // namespace corral::observe
