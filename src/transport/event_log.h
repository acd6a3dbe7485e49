// The recent events of a legacy session's streams, within a limit of bytes: those that a client may ask for
// again, and those that were not delivered yet. Costs nothing while it is empty. Owned by one session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "base/shares.h"
#include "wire/line_reader.h"

namespace corral::transport {

/// Identifies one event of a session: "<stream>-<sequence>" on the wire. Sequences start at 1.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t sequence = 0;
};
std::string event_id_text(EventId id);
/// Empty if the text is not an event id.
std::optional<EventId> parse_event_id(std::string_view text);

class EventLog {
 public:
  /// Importance of an event, in the order in which they are dropped: already sent; a notification; a question
  /// or an answer that the client waits for.
  enum class Weight : std::uint8_t { Sent, News, Owed };
  struct Event {
    EventId id;  // sequence 0: not on a stream yet
    wire::Line line;
    Weight weight = Weight::Sent;
    bool last = false;  // the stream ends with it
    Clock::time_point at{};
  };

  explicit EventLog(std::size_t most) : most_(most) {}
  /// From now on the stored events are charged to this account, which must outlive the log; null = not
  /// charged. If the account has no room, events are dropped as if the log were full.
  void charge(Account* account);

  /// Copies a line without an owner. If the log is full, drops sent events first, then notifications, each
  /// oldest first, and questions and answers last.
  void add(Event event);

  /// All events of the stream after that event. `newest` is the sequence of the stream's newest event while
  /// it is open; then the log need not contain its end. Empty if some of them are lost or never existed.
  std::optional<std::vector<Event>> later(EventId after, std::optional<std::uint64_t> newest) const;
  /// The events of that stream in the log have been written to a client.
  void mark_sent(std::uint64_t stream);
  /// Removes and returns the events that are on no stream yet, in order.
  std::vector<Event> take_kept();

  /// Drops events that were sent before then, because no client comes back for them.
  void forget_sent_before(Clock::time_point then);
  /// When the oldest sent event was written; empty if there is none.
  std::optional<Clock::time_point> oldest_sent() const;

  std::size_t bytes() const { return bytes_; }
  /// Whether it holds a question or an answer that was not written to a client yet.
  bool owes() const;
  /// The number of undelivered questions and answers that were dropped since the last call.
  std::size_t take_lost() { return std::exchange(lost_, 0); }

 private:
  static std::size_t cost(const Event& event);
  void trim_below(std::size_t limit);
  void trim(std::size_t target, Weight up_to);
  void release_room();

  std::size_t most_;
  std::size_t bytes_ = 0;
  std::size_t lost_ = 0;
  std::vector<Event> events_;
  Account::Held held_;
};

}  // namespace corral::transport
