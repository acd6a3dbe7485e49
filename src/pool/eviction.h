// Chooses the instances to end when there are too many. Pure. An instance with calls in flight, open progress
// or open subscriptions is never chosen.
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
  bool in_use = false;    // it has calls in flight, open progress or open subscriptions
  bool may_park = false;  // its sessions can be without it until their next call
};

/// The index of the instance to end in favour of another: instances without sessions first, then the least
/// recently used. Nothing if all are needed.
std::optional<std::size_t> least_needed(std::span<const Candidate> candidates);

/// How many of them could be ended in that way.
std::size_t how_many_may_go(std::span<const Candidate> candidates);

/// The indices of idle instances without sessions, except the `keep` most recently used of each server.
std::vector<std::size_t> beyond_keep(std::span<const Candidate> candidates, std::size_t keep);

}  // namespace corral::pool
