// The daemon's only stream of events. Listeners are called at once, in the order in which they were added.
// The stream also keeps the most recent events for later queries. Must be used on the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "events/event.h"

namespace corral::events {

/// Longer names and sentences are truncated.
inline constexpr std::size_t kLongestName = 256;
inline constexpr std::size_t kLongestText = 4096;

class Stream {
 public:
  using Listener = std::function<void(const Event&)>;
  /// `listener` is called for every event as long as the stream lives. It may call `tell`; that event is
  /// delivered after the current one. It must not call `listen`.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  /// Numbers the event, sets its time, stores it and calls the listeners.
  void tell(Event event);

  /// The next event gets the number after this one, so that numbers continue across daemons.
  void continue_after(std::uint64_t number) { last_ = number; }
  std::uint64_t last() const { return last_; }

  /// The stored events after `number`, oldest first, at most `most`.
  std::vector<Event> after(std::uint64_t number, std::size_t most) const;
  /// The number of the oldest stored event; 0 = there is none.
  std::uint64_t first() const { return recent_.empty() ? 0 : recent_.front().number; }

 private:
  static constexpr std::size_t kRemembered = 1024;

  std::vector<Listener> listeners_;
  std::deque<Event> recent_;
  std::deque<Event> waiting_;  // from listeners
  bool telling_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace corral::events
