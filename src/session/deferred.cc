#include "session/deferred.h"

#include "router/router.h"

namespace corral::session {
namespace {

// How much may wait while a server is being opened.
constexpr std::size_t kMostDeferred = 64;
constexpr std::size_t kMostDeferredBytes = std::size_t{1} << 20;
// How much is read after that.
constexpr std::size_t kMostBehind = 64;
constexpr std::size_t kMostBytesBehind = std::size_t{64} << 10;

}  // namespace

Deferred::Entry Deferred::entry(const wire::Message& message) {
  Entry entry{message.owned()};
  if (entry.is_request()) entry.list = router::list_kind_of(message.method());
  return entry;
}

bool Deferred::add(const wire::Message& message, Account* account) {
  Account::Held bytes;
  if (account != nullptr) {
    auto held = account->take(Good::Bytes, message.text().size());
    if (!held) return false;
    bytes = std::move(*held);
  }
  Entry entry = Deferred::entry(message);
  entry.bytes = std::move(bytes);
  keep(++last_, std::move(entry));
  return true;
}

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

std::vector<std::string> Deferred::take_request_ids() {
  std::vector<std::string> ids;
  while (!entries_.empty()) {
    const Entry entry = take_first();
    if (entry.is_request()) ids.emplace_back(entry.request_id());
  }
  return ids;
}

void Deferred::received(std::size_t bytes) {
  ++received_.messages;
  received_.bytes += bytes;
}

bool Deferred::full() {
  const bool enough = entries_.size() >= kMostDeferred || bytes_ >= kMostDeferredBytes;
  if (!enough) full_since_.reset();
  if (enough && !full_since_) full_since_ = received_;
  return enough && (received_.messages - full_since_->messages >= kMostBehind ||
                    received_.bytes - full_since_->bytes >= kMostBytesBehind);
}

}  // namespace corral::session
