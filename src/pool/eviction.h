// Which instance goes when there are too many. Pure. Never one with work in flight, open progress or open
// subscriptions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/loop.h"

namespace corral::pool {

struct Candidate {
  std::string_view server;
  Clock::time_point last_used;
  std::size_t sessions = 0;
  bool in_use = false;    // something is in flight or open
  bool may_park = false;  // its sessions can do without it until their next call
};

/// The one to end for the sake of another: without sessions first, least recently used first. Nothing if all
/// are needed.
std::optional<std::size_t> least_needed(std::span<const Candidate> candidates);

/// How many could be ended so.
std::size_t how_many_may_go(std::span<const Candidate> candidates);

/// Those without sessions beyond the `keep` most recently used of their server.
std::vector<std::size_t> beyond_keep(std::span<const Candidate> candidates, std::size_t keep);

}  // namespace corral::pool
