#include "pool/eviction.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace corral::pool {
namespace {

bool may_go(const Candidate& candidate) {
  return !candidate.in_use && (candidate.sessions == 0 || candidate.may_park);
}

}  // namespace

std::optional<std::size_t> least_needed(std::span<const Candidate> candidates) {
  std::optional<std::size_t> least;
  const auto need = [&](std::size_t index) {
    return std::make_tuple(candidates[index].sessions > 0, candidates[index].last_used);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (may_go(candidates[i]) && (!least || need(i) < need(*least))) least = i;
  }
  return least;
}

std::size_t how_many_may_go(std::span<const Candidate> candidates) {
  return static_cast<std::size_t>(std::count_if(candidates.begin(), candidates.end(), may_go));
}

std::vector<std::size_t> beyond_keep(std::span<const Candidate> candidates, std::size_t keep) {
  std::map<std::string_view, std::vector<std::size_t>> idle;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].in_use && candidates[i].sessions == 0) idle[candidates[i].server].push_back(i);
  }
  std::vector<std::size_t> beyond;
  for (auto& [server, indices] : idle) {
    if (indices.size() <= keep) continue;
    std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
      return candidates[a].last_used > candidates[b].last_used;
    });
    beyond.insert(beyond.end(), indices.begin() + static_cast<std::ptrdiff_t>(keep), indices.end());
  }
  return beyond;
}

}  // namespace corral::pool
