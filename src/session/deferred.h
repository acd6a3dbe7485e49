// The messages of a client that wait for a server, in order. Each is kept as it was scanned when it arrived:
// no message is read a second time, however large it is. Also decides when so much waits that the session
// must stop reading from its client. Owned by the session; makes no calls.
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
    wire::Message message;                   // owns its bytes
    std::optional<router::ListKind> list{};  // the list that it asks for
    Account::Held bytes{};                   // counted on the account of its principal

    bool is_request() const { return message.kind() == wire::Kind::Request; }
    /// As the client wrote it; empty = it is not a request.
    std::string_view request_id() const { return is_request() ? message.id() : std::string_view(); }
    bool wants_log() const { return is_request() && message.has_log_level(); }
  };

  static Entry entry(const wire::Message& message);
  /// Keeps the message and counts its bytes on the account (null = not counted). False if the account has no
  /// room; the message is not kept then.
  bool add(const wire::Message& message, Account* account);
  /// The message could not be sent yet, and is the first again.
  void put_back(Entry entry);
  /// Call only if not empty.
  Entry take_first();
  /// The client cancels a request that no server has seen. False if no such request waits.
  bool cancel(std::string_view request_id);
  /// Removes the list requests from the queue and returns them.
  std::vector<Entry> take_lists();
  /// Removes everything; returns the ids of the requests, which the caller must answer.
  std::vector<std::string> take_request_ids();

  /// The client sent a message of this many bytes, whether it waits or not.
  void received(std::size_t bytes);
  /// Whether the session must stop reading from its client. That is some time after enough waits, because the
  /// cancellation of a waiting request may follow, and would otherwise be read too late.
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
  std::set<std::pair<std::string, std::int64_t>> requests_;  // ids and places of requests
  std::int64_t last_ = 0;
  std::size_t bytes_ = 0;
  std::size_t wanting_logs_ = 0;
  struct Received {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  Received received_;
  std::optional<Received> full_since_;  // what had been received when enough messages waited
};

}  // namespace corral::session
