// One stream of a legacy session's events, started by a POST or a GET. Its client may lose the connection and
// reconnect: the stream continues without one, and its events wait in the log. Owned by one session.
#pragma once

#include <memory>
#include <utility>

#include "http/sse.h"
#include "transport/event_log.h"

namespace corral::transport {

/// `log` must outlive the stream. No function calls the exchange's callbacks.
class EventStream {
 public:
  EventStream(std::uint64_t number, EventLog& log) : log_(log), number_(number) {}

  std::uint64_t number() const { return number_; }
  std::uint64_t newest() const { return sequence_; }
  /// Whether a client is connected, or waits for a status line.
  bool connected() const { return exchange_ != nullptr; }
  bool is(const http::Exchange* exchange) const { return exchange_.get() == exchange; }
  /// Whether the event stream was started: on this connection or, without one, on an earlier one.
  bool begun() const { return begun_; }
  /// Whether its client has an id to resume it with.
  bool resumable() const { return sequence_ > 0; }
  std::size_t queued() const { return exchange_ ? exchange_->queued() : 0; }
  Clock::time_point last_written() const { return last_written_; }

  /// Sends the events to this exchange from now on. Ends an earlier connection.
  void attach(std::shared_ptr<http::Exchange> exchange);
  /// Sends the status line of an event stream.
  void begin(http::Headers headers);
  /// Sends an event without a message, so that the client has an id to reconnect with.
  void prime(std::chrono::milliseconds retry);
  void comment();
  /// Whether the stream ends after an event.
  enum class Then : std::uint8_t { Continue, Finish };
  void deliver(const wire::Line& line, EventLog::Weight weight, Then then);
  /// Sends events of the log again, with the ids that they have.
  void repeat(const std::vector<EventLog::Event>& events);

  /// Replies without a stream.
  void reply(http::Response response);
  std::shared_ptr<http::Exchange> release() { return std::exchange(exchange_, nullptr); }
  void finish();
  /// There will be no more events and no answer.
  void end();
  /// The client is gone, but the stream continues.
  void disconnect() { exchange_ = nullptr; }

 private:
  void write(const http::Event& event);

  EventLog& log_;
  std::uint64_t number_;
  std::uint64_t sequence_ = 0;
  std::shared_ptr<http::Exchange> exchange_;
  Clock::time_point last_written_{};
  bool begun_ = false;
};

}  // namespace corral::transport
