// Answers queries for events, including queries that wait for the next event. Must be used on the loop's
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "base/loop.h"
#include "events/stream.h"
#include "registry/registry.h"

namespace corral::observe {

class EventReader {
 public:
  /// `registry` supplies events that the stream no longer holds; null = none. `stream` and `registry` must
  /// outlive the reader.
  EventReader(Loop& loop, events::Stream& stream, registry::Registry* registry);

  /// Whether the answer has what servers wrote to stderr. It can name what other principals do.
  enum class ErrorLines : std::uint8_t { Shown, Hidden };
  struct Query {
    std::uint64_t after = 0;
    std::size_t limit = 0;
    std::chrono::milliseconds wait{0};
    ErrorLines error_lines = ErrorLines::Shown;
  };
  /// {"events":[…],"next":N}; a query for events after N continues from here.
  using Answer = std::function<void(const std::string& json)>;
  /// Calls `answer` at once, when the first event arrives, or when the time is over. Never after the reader
  /// is destroyed. `answer` may call `read`.
  void read(const Query& query, Answer answer);

 private:
  struct Waiter {
    Query query;
    Answer answer;
    std::unique_ptr<Timer> timer;
  };

  std::vector<events::Event> find(const Query& query);
  void answer(const Query& query, const Answer& answer);
  void answer_all();

  Loop& loop_;
  events::Stream& stream_;
  registry::Registry* registry_;
  std::list<Waiter> waiters_;
  bool announced_ = false;
  Lifetime lifetime_;
};

}  // namespace corral::observe
