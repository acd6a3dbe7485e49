// What a client of a legacy session may ask for again, or has not been given yet: the newest events of its
// streams, within so many bytes. Costs nothing while it is empty. Belongs to one session.
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

/// Names one event of a session: "<stream>-<sequence>" on the wire. Sequences count from 1.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t sequence = 0;
};
std::string event_id_text(EventId id);
/// Nothing if it is none of ours.
std::optional<EventId> parse_event_id(std::string_view text);

class EventLog {
 public:
  /// Who misses an event when it has to go: nobody, who likes to be told, or who waits for it.
  enum class Weight : std::uint8_t { Sent, News, Owed };
  struct Event {
    EventId id;  // sequence 0: it has no stream yet
    wire::Line line;
    Weight weight = Weight::Sent;
    bool last = false;  // its stream ends with it
    Clock::time_point at{};
  };

  explicit EventLog(std::size_t most) : most_(most) {}
  /// From now on what is kept is on this account, which outlives the log; null = on nobody's. What it has no
  /// room for goes as if the log were full.
  void charge(Account* account);

  /// Copies a line that nobody owns. What has become too much goes: sent events first, then news, each
  /// oldest first, and questions and answers last.
  void add(Event event);

  /// Everything of the stream after that event. `newest`: the sequence of the stream's newest event while it
  /// is open; then the log need not know its end. Nothing if some of it is lost or never was.
  std::optional<std::vector<Event>> later(EventId after, std::optional<std::uint64_t> newest) const;
  /// What the log holds of that stream has been written to a client.
  void mark_sent(std::uint64_t stream);
  /// Takes out what has no stream yet, in order.
  std::vector<Event> take_kept();

  /// Nobody comes back for what was sent before then.
  void forget_sent_before(Clock::time_point then);
  /// When the oldest event that was sent was written; nothing if there is none.
  std::optional<Clock::time_point> oldest_sent() const;

  std::size_t bytes() const { return bytes_; }
  /// Whether it holds a question or an answer that was not written to a client yet.
  bool owes() const;
  /// Questions and answers that had to go unseen, since the last call.
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
