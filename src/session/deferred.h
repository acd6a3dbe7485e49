// What a client has said while there was no server to take it, in its order. Each message is kept as it was
// scanned when it came: nothing here reads a message a second time, however large it is. Pure.
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
  void add(Entry entry);
  /// It could not be taken after all, and stays the first.
  void put_back(Entry entry);
  /// Call only if not empty.
  Entry take_first();
  /// Its client no longer wants the answer, and no server has seen the request. False if there is none such.
  bool cancel(std::string_view request_id);
  /// The requests for lists, out of their order.
  std::vector<Entry> take_lists();
  std::vector<Entry> take_all();

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
};

}  // namespace corral::session
