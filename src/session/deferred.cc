#include "session/deferred.h"

#include "router/router.h"

namespace corral::session {

Deferred::Entry Deferred::entry(const wire::Message& message) {
  Entry entry{message.owned()};
  if (entry.is_request()) entry.list = router::list_kind_of(message.method());
  return entry;
}

void Deferred::add(Entry entry) { keep(++last_, std::move(entry)); }

void Deferred::put_back(Entry entry) {
  keep(entries_.empty() ? ++last_ : entries_.begin()->first - 1, std::move(entry));
}

void Deferred::keep(std::int64_t place, Entry entry) {
  bytes_ += entry.message.text().size();
  wanting_logs_ += entry.wants_log() ? 1 : 0;
  if (entry.is_request()) requests_.emplace(entry.request_id(), place);
  entries_.emplace(place, std::move(entry));
}

Deferred::Entry Deferred::take_first() { return take(entries_.begin()); }

Deferred::Entry Deferred::take(Entries::iterator found) {
  const std::int64_t place = found->first;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  bytes_ -= entry.message.text().size();
  wanting_logs_ -= entry.wants_log() ? 1 : 0;
  requests_.erase({std::string(entry.request_id()), place});
  return entry;
}

bool Deferred::cancel(std::string_view request_id) {
  const auto request = requests_.lower_bound({std::string(request_id), INT64_MIN});
  if (request == requests_.end() || request->first != request_id) return false;
  take(entries_.find(request->second));
  return true;
}

std::vector<Deferred::Entry> Deferred::take_lists() {
  std::vector<Entry> lists;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->second.list) lists.push_back(take(entry));
    entry = next;
  }
  return lists;
}

std::vector<Deferred::Entry> Deferred::take_all() {
  std::vector<Entry> all;
  while (!entries_.empty()) all.push_back(take_first());
  return all;
}

}  // namespace corral::session
