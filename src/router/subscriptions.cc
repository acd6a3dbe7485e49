#include "router/subscriptions.h"

#include <algorithm>

namespace corral::router {

Subscriptions::Next Subscriptions::subscribe(SessionPort* port, const std::string& uri,
                                             const std::string& id) {
  const auto [entry, is_new] = entries_.try_emplace(uri);
  if (!is_new && !entry->second.asked) {
    entry->second.subscribers.insert(port);
    return Next::Answer;
  }
  entry->second.leaving.erase(port);
  entry->second.waiting.push_back({port, id});
  return is_new ? Next::AskServer : Next::Wait;
}

std::vector<Subscriptions::Waiting> Subscriptions::answered(const std::string& uri, bool accepted) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end()) return {};
  std::vector<Waiting> waiting = std::move(entry->second.waiting);
  entry->second.waiting.clear();
  if (!accepted) {
    entries_.erase(entry);
    return waiting;
  }
  entry->second.asked = false;
  for (const Waiting& one : waiting) {
    if (!entry->second.leaving.contains(one.port)) entry->second.subscribers.insert(one.port);
  }
  entry->second.leaving.clear();
  return waiting;
}

bool Subscriptions::unsubscribe(SessionPort* port, const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end()) return false;
  if (entry->second.asked) entry->second.leaving.insert(port);
  return entry->second.subscribers.erase(port) > 0 && abandoned(uri);
}

std::vector<std::string> Subscriptions::drop(SessionPort* port) {
  std::vector<std::string> last;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    auto& [uri, state] = *entry;
    std::erase_if(state.waiting, [port](const Waiting& one) { return one.port == port; });
    state.subscribers.erase(port);
    const bool undo = !state.asked && state.subscribers.empty();
    if (undo) last.push_back(uri);
    entry = undo ? entries_.erase(entry) : std::next(entry);
  }
  return last;
}

std::size_t Subscriptions::waiting(const SessionPort* port) const {
  std::size_t count = 0;
  for (const auto& [uri, entry] : entries_) {
    count += static_cast<std::size_t>(
        std::count_if(entry.waiting.begin(), entry.waiting.end(),
                      [port](const Waiting& one) { return one.port == port && !one.id.empty(); }));
  }
  return count;
}

std::vector<std::string> Subscriptions::give_up(const SessionPort* port) {
  std::vector<std::string> ids;
  for (auto& [uri, entry] : entries_) {
    std::erase_if(entry.waiting, [&](const Waiting& one) {
      const bool its = one.port == port && !one.id.empty();
      if (its) ids.push_back(one.id);
      return its;
    });
  }
  return ids;
}

bool Subscriptions::abandoned(const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end() || entry->second.asked || !entry->second.subscribers.empty()) return false;
  entries_.erase(entry);
  return true;
}

bool Subscriptions::holds(const SessionPort* port, const std::string& uri) const {
  const auto entry = entries_.find(uri);
  return entry != entries_.end() && entry->second.subscribers.contains(const_cast<SessionPort*>(port));
}

std::vector<SessionPort*> Subscriptions::interested(std::string_view uri) const {
  std::set<SessionPort*> ports;
  for (const auto& [subscribed, entry] : entries_) {
    if (!uri.starts_with(subscribed)) continue;
    const std::string_view rest = uri.substr(subscribed.size());
    const bool below = rest.empty() || subscribed.ends_with('/') || rest.front() == '/';
    if (below) ports.insert(entry.subscribers.begin(), entry.subscribers.end());
  }
  return {ports.begin(), ports.end()};
}

}  // namespace corral::router
