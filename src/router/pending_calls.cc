#include "router/pending_calls.h"

#include <algorithm>

namespace corral::router {

bool PendingCalls::add(std::uint64_t up_id, Call call) {
  if (call.port != nullptr && !by_client_[call.port].emplace(call.id, up_id).second) return false;
  calls_.emplace(up_id, std::move(call));
  return true;
}

Call* PendingCalls::find(std::uint64_t up_id) {
  const auto found = calls_.find(up_id);
  return found == calls_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> PendingCalls::find(const SessionPort* port, std::string_view id) const {
  const auto client = by_client_.find(port);
  if (client == by_client_.end()) return std::nullopt;
  const auto found = client->second.find(std::string(id));
  if (found == client->second.end()) return std::nullopt;
  return found->second;
}

std::optional<Call> PendingCalls::take(std::uint64_t up_id) {
  const auto found = calls_.find(up_id);
  if (found == calls_.end()) return std::nullopt;
  auto node = calls_.extract(found);
  forget(node.mapped());
  return std::move(node.mapped());
}

std::optional<Call> PendingCalls::cancel(std::uint64_t up_id, Clock::time_point now) {
  std::optional<Call> call = take(up_id);
  if (!call) return call;
  const SessionPort* const worked =
      call->purpose == Purpose::Listen ? nullptr : call->port;  // it only waited
  tombstones_.emplace(up_id, Tombstone{worked, now});
  if (tombstones_.size() > kMostTombstones) tombstones_.erase(tombstones_.begin());
  return call;
}

bool PendingCalls::was_cancelled(std::uint64_t up_id) { return tombstones_.erase(up_id) > 0; }

bool PendingCalls::others_linger(const SessionPort* port, Clock::time_point now) const {
  constexpr std::chrono::minutes kWork{1};
  return std::any_of(tombstones_.rbegin(), tombstones_.rend(), [&](const auto& entry) {
    // Null = our own question: no client's work.
    const SessionPort* const caller = entry.second.port;
    return caller != nullptr && caller != port && now - entry.second.cancelled < kWork;
  });
}

std::vector<std::uint64_t> PendingCalls::of(const SessionPort* port) const {
  std::vector<std::uint64_t> ids;
  const auto client = by_client_.find(port);
  if (client == by_client_.end()) return ids;
  ids.reserve(client->second.size());
  for (const auto& [text, up_id] : client->second) ids.push_back(up_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::uint64_t> PendingCalls::all() const {
  std::vector<std::uint64_t> ids;
  ids.reserve(calls_.size());
  for (const auto& [up_id, call] : calls_) ids.push_back(up_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::uint64_t> PendingCalls::expired(Clock::time_point now) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [up_id, call] : calls_) {
    if (call.deadline <= now) ids.push_back(up_id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::size_t PendingCalls::count(const SessionPort* port) const {
  const auto client = by_client_.find(port);
  return client == by_client_.end() ? 0 : client->second.size();
}

std::size_t PendingCalls::awaited() const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [](const auto& call) {
    const Purpose purpose = call.second.purpose;
    return purpose != Purpose::Listen && purpose != Purpose::ListenForAll &&
           purpose != Purpose::CompareList && purpose != Purpose::Probe;
  }));
}

std::size_t PendingCalls::awaited(const SessionPort* port) const {
  const auto client = by_client_.find(port);
  if (client == by_client_.end()) return 0;
  return static_cast<std::size_t>(
      std::count_if(client->second.begin(), client->second.end(),
                    [this](const auto& id) { return calls_.at(id.second).purpose != Purpose::Listen; }));
}

std::size_t PendingCalls::listens() const {
  return static_cast<std::size_t>(std::count_if(
      calls_.begin(), calls_.end(), [](const auto& call) { return call.second.purpose == Purpose::Listen; }));
}

SessionPort* PendingCalls::only_caller(Causes causes) const {
  SessionPort* only = nullptr;
  for (const auto& [up_id, call] : calls_) {
    if (call.port == nullptr || call.port == only) continue;
    if (causes == Causes::CallsThatWantLogs && !call.wants_log) continue;
    if (only != nullptr) return nullptr;
    only = call.port;
  }
  return only;
}

void PendingCalls::forget(const Call& call) {
  const auto client = by_client_.find(call.port);
  if (client == by_client_.end()) return;
  client->second.erase(call.id);
  if (client->second.empty()) by_client_.erase(client);
}

}  // namespace corral::router
