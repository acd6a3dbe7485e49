#include "observe/event_reader.h"

#include <utility>

#include "wire/json_writer.h"

namespace corral::observe {
namespace {

// Further queries are answered at once, and the client asks again.
constexpr std::size_t kMostWaiters = 256;

std::string events_json(const std::vector<events::Event>& events, std::uint64_t next) {
  return wire::JsonObject()
      .raw("events", wire::array_of(events, [](const auto& event) { return events::to_json(event); }))
      .number("next", next)
      .json();
}

}  // namespace

EventReader::EventReader(Loop& loop, events::Stream& stream, registry::Registry* registry)
    : loop_(loop), stream_(stream), registry_(registry) {
  stream_.listen([this](const events::Event&) {
    // Not from within the code that reports the event; and events that are reported together are read
    // together.
    if (waiters_.empty() || std::exchange(announced_, true)) return;
    loop_.post(lifetime_.guard([this] { answer_all(); }));
  });
}

void EventReader::read(const Query& query, Answer answer) {
  const bool nothing = query.after == stream_.last();
  if (!nothing || query.wait.count() == 0 || waiters_.size() >= kMostWaiters)
    return this->answer(query, answer);
  Waiter& waiter = waiters_.emplace_back(Waiter{query, std::move(answer), std::make_unique<Timer>(loop_)});
  waiter.timer->start(query.wait, [this, place = std::prev(waiters_.end())] {
    const Waiter over = std::move(*place);
    waiters_.erase(place);
    this->answer(over.query, over.answer);
  });
}

void EventReader::answer_all() {
  announced_ = false;
  for (const Waiter& waiter : std::exchange(waiters_, {})) answer(waiter.query, waiter.answer);
}

std::vector<events::Event> EventReader::find(const Query& query) {
  // Numbers that have not been reached come from a registry that was lost.
  if (query.after >= stream_.last()) return {};
  const bool remembered = stream_.first() != 0 && query.after + 1 >= stream_.first();
  if (remembered || registry_ == nullptr) return stream_.after(query.after, query.limit);
  registry_->flush();
  std::vector<events::Event> found = registry_->events_after(query.after, query.limit);
  return found.empty() ? stream_.after(query.after, query.limit) : found;
}

void EventReader::answer(const Query& query, const Answer& answer) {
  std::vector<events::Event> found = find(query);
  if (query.error_lines == ErrorLines::Hidden) {
    for (events::Event& event : found) event.error_lines.clear();
  }
  answer(events_json(found, found.empty() ? stream_.last() : found.back().number));
}

}  // namespace corral::observe
