// The one stream of events. Whoever knows that something happened tells it; listeners hear it at once, in the
// order in which they came. Remembers the last ones for who asks later. Belongs to the loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "events/event.h"

namespace corral::events {

/// Longer names and sentences are cut.
inline constexpr std::size_t kLongestName = 256;
inline constexpr std::size_t kLongestText = 4096;

class Stream {
 public:
  using Listener = std::function<void(const Event&)>;
  /// For as long as the stream lives. A listener may tell another event; that one is heard afterwards.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  void tell(Event event);

  /// The next event gets the number after this one: what an earlier daemon told keeps its numbers.
  void continue_after(std::uint64_t number) { last_ = number; }
  std::uint64_t last() const { return last_; }

  /// Those after `number` that are remembered, oldest first, `most` at most.
  std::vector<Event> after(std::uint64_t number, std::size_t most) const;
  /// Of the oldest that is remembered; 0 = none is.
  std::uint64_t first() const { return recent_.empty() ? 0 : recent_.front().number; }

 private:
  static constexpr std::size_t kRemembered = 1024;

  std::vector<Listener> listeners_;
  std::deque<Event> recent_;
  std::deque<Event> waiting_;  // told by listeners
  bool telling_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace corral::events
