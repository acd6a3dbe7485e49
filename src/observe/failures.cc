#include "observe/failures.h"

#include <algorithm>
#include <chrono>

#include "base/utc_time.h"

namespace corral::observe {
namespace {

constexpr std::int64_t kShownFor = 10 * 60'000;
// Clients can bring their own servers, so their number is bounded.
constexpr std::size_t kMostFailing = 256;

bool is_failure(events::Kind kind) {
  return kind == events::Kind::Failed || kind == events::Kind::Crash || kind == events::Kind::Broken;
}

}  // namespace

Failures::Failures(std::function<std::int64_t()> clock) : clock_(clock ? std::move(clock) : unix_time_ms) {}

void Failures::handle(const events::Event& event) {
  if (event.kind == events::Kind::Ready) by_server_.erase(event.server);
  if (!is_failure(event.kind) || event.server.empty()) return;
  if (by_server_.size() >= kMostFailing && !by_server_.contains(event.server)) {
    by_server_.erase(std::min_element(
        by_server_.begin(), by_server_.end(),
        [](const auto& one, const auto& other) { return one.second.time_ms < other.second.time_ms; }));
  }
  by_server_[event.server] = {event.time_ms, event.text};
}

std::vector<FailureView> Failures::now() const {
  const std::int64_t now = clock_();
  std::vector<FailureView> views;
  for (const auto& [server, failure] : by_server_) {
    const std::int64_t age = std::max<std::int64_t>(now - failure.time_ms, 0);
    if (age <= kShownFor) views.push_back({server, failure.text, milliseconds(age)});
  }
  std::sort(views.begin(), views.end(),
            [](const FailureView& one, const FailureView& other) { return one.age < other.age; });
  return views;
}

}  // namespace corral::observe
