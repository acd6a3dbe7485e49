// The messages of a client that wait for a server, in their order. Each is kept as it was scanned when it
// came: nothing here reads a message a second time, however large it is. Also knows when so much waits that
// the client must not be read any further. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shares.h"
#include "router/session_port.h"
#include "wire/message.h"

namespace corral::session {

class Deferred {
 public:
  struct Entry {
    wire::Message message;                   // with its owner
    std::optional<router::ListKind> list{};  // that it asks for
    Account::Held bytes{};                   // of its principal's share

    bool is_request() const { return message.kind() == wire::Kind::Request; }
    /// As the client wrote it; empty = it is not a request.
    std::string_view request_id() const { return is_request() ? message.id() : std::string_view(); }
    bool wants_log() const { return is_request() && message.has_log_level(); }
  };

  static Entry entry(const wire::Message& message);
  /// Keeps the message on the account of its principal (null = none). False if that has no room: it is not
  /// kept then.
  bool add(const wire::Message& message, Account* account);
  /// It could not be taken after all, and stays the first.
  void put_back(Entry entry);
  /// Call only if not empty.
  Entry take_first();
  /// Its client no longer wants the answer, and no server has seen the request. False if there is none such.
  bool cancel(std::string_view request_id);
  /// The requests for lists, out of their order.
  std::vector<Entry> take_lists();
  /// Forgets everything; returns the ids of the requests among it, which are to be answered.
  std::vector<std::string> take_request_ids();

  /// The client sent so many bytes, in a message that may or may not wait.
  void received(std::size_t bytes);
  /// Whether enough waits for a server, and enough has been read after it. Reading goes on for a while
  /// because a cancellation of a waiting request may follow, which would be too late afterwards.
  bool full();

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  bool wants_log() const { return wanting_logs_ > 0; }

 private:
  using Entries = std::map<std::int64_t, Entry>;

  void keep(std::int64_t place, Entry entry);
  Entry take(Entries::iterator found);

  Entries entries_;                                          // by their place in the queue
  std::set<std::pair<std::string, std::int64_t>> requests_;  // their ids and places
  std::int64_t last_ = 0;
  std::size_t bytes_ = 0;
  std::size_t wanting_logs_ = 0;
  struct Received {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  Received received_;
  std::optional<Received> full_since_;  // what had been received when enough waited
};

}  // namespace corral::session
