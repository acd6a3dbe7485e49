// Stores equal values once, for as long as they are used: a hundred sessions of one client send the same
// environment a hundred times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

namespace corral::daemon {

template <class Value, class Hash, class Equal>
class Interned {
 public:
  std::shared_ptr<const Value> keep(Value value) {
    const std::size_t hash = Hash{}(value);
    const auto [first, last] = values_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      std::shared_ptr<const Value> known = entry->second.lock();
      if (known && Equal{}(*known, value)) return known;
    }
    forget_some();
    auto kept = std::make_shared<const Value>(std::move(value));
    values_.emplace(hash, kept);
    return kept;
  }

  /// Holders keep their values; values that are added from now on get new copies.
  void clear() { values_.clear(); }
  std::size_t size() const { return values_.size(); }

 private:
  /// Removes unused values, but not at every call, so that the cost per added value is constant.
  void forget_some() {
    if (values_.size() < next_walk_) return;
    std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
    next_walk_ = std::max(kFirstWalk, values_.size() * 2);
  }

  static constexpr std::size_t kFirstWalk = 32;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Value>> values_;
  std::size_t next_walk_ = kFirstWalk;
};

}  // namespace corral::daemon
