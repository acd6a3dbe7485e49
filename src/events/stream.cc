#include "events/stream.h"

#include <algorithm>
#include <utility>

namespace corral::events {
namespace {

std::int64_t unix_time_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

/// A client's description of itself may be megabytes long, and it is stored, recorded and logged.
void cut(std::string& text, std::size_t most) {
  constexpr std::string_view kCut = "…";
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U)
    --most;  // do not cut a UTF-8 character in two
  text.resize(most);
  text += kCut;
}

}  // namespace

void Stream::tell(Event event) {
  cut(event.server, kLongestName);
  cut(event.text, kLongestText);
  event.number = ++last_;
  event.time_ms = unix_time_ms();
  waiting_.push_back(std::move(event));
  if (std::exchange(telling_, true)) return;
  while (!waiting_.empty()) {
    recent_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    if (recent_.size() > kRemembered) recent_.pop_front();
    const Event told = recent_.back();  // a copy: listeners may report so many events that it is dropped
    for (const Listener& listener : listeners_) listener(told);
  }
  telling_ = false;
}

std::vector<Event> Stream::after(std::uint64_t number, std::size_t most) const {
  const auto begin = std::partition_point(recent_.begin(), recent_.end(),
                                          [number](const Event& event) { return event.number <= number; });
  const auto left = static_cast<std::size_t>(recent_.end() - begin);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(left, most))};
}

}  // namespace corral::events
