// What a client has said while there was no server to take it, in its order. What is needed to find a message
// again (its id, whether it asks for a list or for logs) is kept beside it: nothing here reads a message a
// second time, however large it is. Pure.
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
  struct Message {
    std::string text;
    std::string request_id{};  // as the client wrote it; empty = it is not a request
    std::optional<router::ListKind> list{};
    bool wants_log = false;
    Account::Held bytes{};  // of its principal's share
  };

  static Message message(const wire::Message& received);
  void add(Message message);
  /// It could not be taken after all, and stays the first.
  void put_back(Message message);
  /// Call only if not empty.
  Message take_first();
  /// Its client no longer wants the answer, and no server has seen the request. False if there is none such.
  bool cancel(std::string_view request_id);
  /// The requests for lists, out of their order.
  std::vector<Message> take_lists();
  std::vector<Message> take_all();

  bool empty() const { return messages_.empty(); }
  std::size_t size() const { return messages_.size(); }
  std::size_t bytes() const { return bytes_; }
  bool wants_log() const { return wanting_logs_ > 0; }

 private:
  using Messages = std::map<std::int64_t, Message>;

  void keep(std::int64_t place, Message message);
  Message take(Messages::iterator found);

  Messages messages_;                                        // by their place in the queue
  std::set<std::pair<std::string, std::int64_t>> requests_;  // their ids and places
  std::int64_t last_ = 0;
  std::size_t bytes_ = 0;
  std::size_t wanting_logs_ = 0;
};

}  // namespace corral::session
