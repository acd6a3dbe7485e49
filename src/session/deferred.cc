#include "session/deferred.h"

#include "router/router.h"

namespace corral::session {

Deferred::Message Deferred::message(const wire::Message& received) {
  Message message{std::string(received.text())};
  if (received.kind() == wire::Kind::Request) {
    message.request_id = received.id();
    message.list = router::list_kind_of(received.method());
    message.wants_log = received.has_log_level();
  }
  return message;
}

void Deferred::add(Message message) { keep(++last_, std::move(message)); }

void Deferred::put_back(Message message) {
  keep(messages_.empty() ? ++last_ : messages_.begin()->first - 1, std::move(message));
}

void Deferred::keep(std::int64_t place, Message message) {
  bytes_ += message.text.size();
  wanting_logs_ += message.wants_log ? 1 : 0;
  if (!message.request_id.empty()) requests_.emplace(message.request_id, place);
  messages_.emplace(place, std::move(message));
}

Deferred::Message Deferred::take_first() { return take(messages_.begin()); }

Deferred::Message Deferred::take(Messages::iterator found) {
  const std::int64_t place = found->first;
  Message message = std::move(found->second);
  messages_.erase(found);
  bytes_ -= message.text.size();
  wanting_logs_ -= message.wants_log ? 1 : 0;
  requests_.erase({message.request_id, place});
  return message;
}

bool Deferred::cancel(std::string_view request_id) {
  const auto request = requests_.lower_bound({std::string(request_id), INT64_MIN});
  if (request == requests_.end() || request->first != request_id) return false;
  take(messages_.find(request->second));
  return true;
}

std::vector<Deferred::Message> Deferred::take_lists() {
  std::vector<Message> lists;
  for (auto message = messages_.begin(); message != messages_.end();) {
    const auto next = std::next(message);
    if (message->second.list) lists.push_back(take(message));
    message = next;
  }
  return lists;
}

std::vector<Deferred::Message> Deferred::take_all() {
  std::vector<Message> all;
  while (!messages_.empty()) all.push_back(take_first());
  return all;
}

}  // namespace corral::session
