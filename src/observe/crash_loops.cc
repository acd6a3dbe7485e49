#include "observe/crash_loops.h"

#include <algorithm>

#include "base/utc_time.h"

namespace corral::observe {
namespace {

// As for one instance (pool/restart_policy.h): the number of deaths in a row, and the uptime that resets it.
constexpr std::size_t kMostDeaths = 5;
constexpr std::int64_t kStable = 30'000;
// After this long without a start, the deaths are forgotten.
constexpr std::int64_t kForgotten = 10 * 60'000;
// Clients can bring their own servers, so their number is bounded.
constexpr std::size_t kMostServers = 256;

}  // namespace

CrashLoops::CrashLoops(std::function<std::int64_t()> clock)
    : clock_(clock ? std::move(clock) : unix_time_ms) {}

void CrashLoops::handle(const events::Event& event) {
  if (event.kind == events::Kind::Crash) return died(event);
  if (event.kind != events::Kind::Ready) return;
  const auto known = by_server_.find(event.server);
  if (known != by_server_.end() && known->second.ready_ms == 0) known->second.ready_ms = event.time_ms;
}

void CrashLoops::died(const events::Event& event) {
  if (!by_server_.contains(event.server)) make_room();
  Deaths& deaths = by_server_[event.server];
  const bool lived = deaths.ready_ms != 0 && event.time_ms - deaths.ready_ms >= kStable;
  const bool long_ago = event.time_ms - deaths.last_ms > kForgotten;
  deaths.in_a_row = lived || long_ago ? 1 : deaths.in_a_row + 1;
  deaths.last_ms = event.time_ms;
  deaths.ready_ms = 0;
  deaths.words = event.text;
}

void CrashLoops::make_room() {
  if (by_server_.size() < kMostServers) return;
  const auto oldest = std::min_element(
      by_server_.begin(), by_server_.end(),
      [](const auto& one, const auto& other) { return one.second.last_ms < other.second.last_ms; });
  by_server_.erase(oldest);
}

std::vector<CrashLoop> CrashLoops::now() const {
  const std::int64_t now = clock_();
  std::vector<CrashLoop> loops;
  for (const auto& [server, deaths] : by_server_) {
    const bool over = deaths.ready_ms != 0 || now - deaths.last_ms > kForgotten;
    if (deaths.in_a_row < kMostDeaths || over) continue;
    loops.push_back({server, "it died " + std::to_string(deaths.in_a_row) +
                                 " times in a row; last error: " + deaths.words});
  }
  return loops;
}

}  // namespace corral::observe
