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
  for (const Waiting& one : waiting) entry->second.subscribers.insert(one.port);
  return waiting;
}

bool Subscriptions::unsubscribe(SessionPort* port, const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end() || entry->second.subscribers.erase(port) == 0) return false;
  return abandoned(uri);
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

bool Subscriptions::abandoned(const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end() || entry->second.asked || !entry->second.subscribers.empty()) return false;
  entries_.erase(entry);
  return true;
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
