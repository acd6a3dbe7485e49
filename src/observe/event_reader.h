// Gives events to those who ask for them, also to those who wait for the next one. Belongs to the loop
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/loop.h"
#include "events/stream.h"
#include "registry/registry.h"

namespace corral::observe {

class EventReader {
 public:
  /// `registry` has what the stream has forgotten; null = nobody has. Both outlive it.
  EventReader(Loop& loop, events::Stream& stream, registry::Registry* registry);

  struct Wish {
    std::uint64_t after = 0;
    std::size_t limit = 0;
    std::chrono::milliseconds wait{0};
  };
  /// {"events":[…],"next":N}: to be asked next for what comes after N.
  using Answer = std::function<void(const std::string& json)>;
  /// Called at once, when the first event comes, or when the time is over; not after the reader is gone.
  void read(const Wish& wish, Answer answer);

 private:
  struct Waiter {
    Wish wish;
    Answer answer;
    std::unique_ptr<Timer> timer;
  };

  std::vector<events::Event> find(const Wish& wish);
  void answer(const Wish& wish, const Answer& answer);
  void answer_all();

  Loop& loop_;
  events::Stream& stream_;
  registry::Registry* registry_;
  std::list<Waiter> waiters_;
  bool announced_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::observe
