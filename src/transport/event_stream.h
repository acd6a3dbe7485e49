// One stream of a legacy session's events, born of a POST or a GET. Its client may lose it and come back: the
// stream goes on without one, and what it says then waits in the log. Belongs to one session.
#pragma once

#include <memory>
#include <utility>

#include "http/sse.h"
#include "transport/event_log.h"

namespace corral::transport {

class EventStream {
 public:
  EventStream(std::uint64_t number, EventLog& log) : log_(log), number_(number) {}

  std::uint64_t number() const { return number_; }
  std::uint64_t newest() const { return sequence_; }
  /// Whether somebody listens, or waits for a status line.
  bool connected() const { return exchange_ != nullptr; }
  bool is(const http::Exchange* exchange) const { return exchange_.get() == exchange; }
  /// Whether a stream was begun: on this connection or, if there is none, on one that was.
  bool begun() const { return begun_; }
  /// Whether its client can name it, if it comes back.
  bool resumable() const { return sequence_ > 0; }
  std::size_t queued() const { return exchange_ ? exchange_->queued() : 0; }
  Clock::time_point last_written() const { return last_written_; }

  /// From now on this is where it goes. An older connection is ended.
  void attach(std::shared_ptr<http::Exchange> exchange);
  void begin(http::Headers headers);
  /// An event without a message, so that the client has an id to come back with.
  void prime(std::chrono::milliseconds retry);
  void comment();
  void deliver(const wire::Line& line, EventLog::Weight weight, bool last);
  /// Events of the log, under the ids that they have.
  void repeat(const std::vector<EventLog::Event>& events);

  /// Instead of a stream.
  void reply(http::Response response);
  std::shared_ptr<http::Exchange> release() { return std::exchange(exchange_, nullptr); }
  void finish();
  /// There will be no more events, and no answer.
  void end();
  /// The client is gone. The stream is not.
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
