#include "transport/event_log.h"

#include <algorithm>
#include <utility>

#include "wire/envelope.h"

namespace corral::transport {

std::string event_id_text(EventId id) {
  return std::to_string(id.stream) + "-" + std::to_string(id.sequence);
}

std::optional<EventId> parse_event_id(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = wire::plain_number(text.substr(0, dash));
  const auto sequence = wire::plain_number(text.substr(dash + 1));
  if (!stream || !sequence || *sequence == 0) return std::nullopt;
  return EventId{*stream, *sequence};
}

/// An owner is kept whole, even if the line is only a small part of it.
std::size_t EventLog::cost(const Event& event) {
  return sizeof(Event) + (event.line.owner ? event.line.owner->size() : 0);
}

void EventLog::add(Event event) {
  const std::size_t text = event.line.text.size();
  const bool mostly_text = event.line.owner && event.line.owner->size() <= text + text / 2;
  if (text > 0 && !mostly_text) {
    event.line.owner = std::make_shared<const std::string>(event.line.text);
    event.line.text = *event.line.owner;
  }
  event.at = Clock::now();
  bytes_ += cost(event);
  events_.push_back(std::move(event));
  if (bytes_ > most_) trim_below(most_);
  if (!held_.resize(bytes_)) trim_below(held_.amount());
}

void EventLog::charge(Account* account) {
  held_ = {};
  if (account == nullptr) return;
  if (auto nothing = account->take(Good::Bytes, 0)) held_ = std::move(*nothing);
  if (!held_.resize(bytes_)) trim_below(0);
}

/// Drops a little more than needed, so that a full log does not move all events each time.
void EventLog::trim_below(std::size_t limit) {
  for (const Weight weight : {Weight::Sent, Weight::News, Weight::Owed}) {
    if (bytes_ > limit) trim(limit - limit / 8, weight);
  }
}

void EventLog::trim(std::size_t target, Weight up_to) {
  std::erase_if(events_, [&](const Event& event) {
    if (bytes_ <= target || event.weight > up_to) return false;
    bytes_ -= cost(event);
    if (event.weight == Weight::Owed) ++lost_;
    return true;
  });
  release_room();
}

std::optional<std::vector<EventLog::Event>> EventLog::later(EventId after,
                                                            std::optional<std::uint64_t> newest) const {
  if (after.sequence == 0 || (newest && after.sequence > *newest)) return std::nullopt;
  std::vector<Event> found;
  std::uint64_t reached = after.sequence;
  bool complete = newest == reached;
  for (const Event& event : events_) {
    if (event.id.stream != after.stream || event.id.sequence < after.sequence || event.id.sequence == 0)
      continue;
    if (event.id.sequence > after.sequence) {
      if (event.id.sequence != ++reached) return std::nullopt;
      found.push_back(event);
    }
    complete = event.last || newest == reached;
  }
  if (!complete) return std::nullopt;
  return found;
}

void EventLog::mark_sent(std::uint64_t stream) {
  const auto now = Clock::now();
  for (Event& event : events_) {
    if (event.id.stream != stream || event.id.sequence == 0 || event.weight == Weight::Sent) continue;
    event.weight = Weight::Sent;
    event.at = now;
  }
}

std::vector<EventLog::Event> EventLog::take_kept() {
  std::vector<Event> kept;
  std::erase_if(events_, [&](Event& event) {
    if (event.id.sequence != 0) return false;
    bytes_ -= cost(event);
    kept.push_back(std::move(event));
    return true;
  });
  release_room();
  return kept;
}

void EventLog::forget_sent_before(Clock::time_point then) {
  std::erase_if(events_, [&](const Event& event) {
    if (event.weight != Weight::Sent || event.at >= then) return false;
    bytes_ -= cost(event);
    return true;
  });
  release_room();
}

std::optional<Clock::time_point> EventLog::oldest_sent() const {
  std::optional<Clock::time_point> oldest;
  for (const Event& event : events_) {
    if (event.weight == Weight::Sent && (!oldest || event.at < *oldest)) oldest = event.at;
  }
  return oldest;
}

bool EventLog::owes() const {
  return std::any_of(events_.begin(), events_.end(),
                     [](const Event& event) { return event.weight == Weight::Owed; });
}

/// Releases memory that a vector keeps after it was large.
void EventLog::release_room() {
  held_.resize(bytes_);
  const bool roomy = events_.capacity() > 64 && events_.size() < events_.capacity() / 4;
  if (events_.empty() || roomy) events_.shrink_to_fit();
}

}  // namespace corral::transport
