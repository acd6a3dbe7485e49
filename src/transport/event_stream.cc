#include "transport/event_stream.h"

#include <utility>

namespace corral::transport {

void EventStream::attach(std::shared_ptr<http::Exchange> exchange) {
  if (begun_) finish();
  exchange_ = std::move(exchange);
  begun_ = false;
  last_written_ = Clock::now();
}

void EventStream::begin(http::Headers headers) {
  begun_ = true;
  last_written_ = Clock::now();
  if (const auto exchange = exchange_) exchange->begin(200, std::move(headers));
}

/// Recorded in the log, because a gap in the numbers would look like a loss.
void EventStream::prime(std::chrono::milliseconds retry) {
  const EventId id{number_, ++sequence_};
  log_.add({id, {}, EventLog::Weight::Sent, false});
  write({event_id_text(id), {}, {}, retry});
}

void EventStream::comment() {
  const auto exchange = exchange_;
  if (!exchange) return;
  last_written_ = Clock::now();
  http::write_comment(*exchange);
}

/// If the client is gone and that is not known yet, the event counts as sent, like any event that is lost in
/// transit, and is in the log.
void EventStream::deliver(const wire::Line& line, EventLog::Weight weight, Then then) {
  const EventId id{number_, ++sequence_};
  log_.add({id, line, exchange_ ? EventLog::Weight::Sent : weight, then == Then::Finish});
  write({event_id_text(id), {}, line, std::nullopt});
  if (then == Then::Finish) finish();
}

void EventStream::repeat(const std::vector<EventLog::Event>& events) {
  for (const EventLog::Event& event : events) {
    if (event.line.text.empty()) continue;  // it only carried an id
    write({event_id_text(event.id), {}, event.line, std::nullopt});
  }
  log_.mark_sent(number_);
}

void EventStream::write(const http::Event& event) {
  const auto exchange = exchange_;
  if (!exchange) return;
  last_written_ = Clock::now();
  http::write_event(*exchange, event);
}

void EventStream::reply(http::Response response) {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->reply(std::move(response));
}

/// A client that reconnects for the rest must be able to learn that there is no more.
void EventStream::end() {
  if (resumable()) log_.add({{number_, ++sequence_}, {}, EventLog::Weight::Sent, true});
  finish();
}

void EventStream::finish() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->finish();
}

}  // namespace corral::transport
