#include "router/subscriptions.h"

#include <algorithm>

namespace corral::router {

/// The bytes of a request until the server has answered: as many as its session keeps afterwards, so that
/// there is room for those.
std::size_t Subscriptions::cost(const std::string& uri, const std::string& id) {
  return kept_for(uri) + id.size();
}

Subscriptions::Next Subscriptions::subscribe(SessionId session, const std::string& uri, const std::string& id,
                                             Account* account) {
  Holder& holder = holders_[session];
  const auto refuse = [&](Next why) {
    if (holder.uris.empty()) holders_.erase(session);
    return why;
  };
  const bool more = !holder.uris.contains(uri);
  const bool full = (more && holder.uris.size() >= kMostOfASession) || holder.waiting >= kMostOfASession;
  if (full || uri.size() > kLongestUri) return refuse(Next::Refuse);
  const auto found = entries_.find(uri);
  const bool is_new = found == entries_.end();
  if (!is_new && !found->second.asked) {
    holder.uris.insert(uri);
    found->second.subscribers.insert(session);
    return Next::AnswerNow;
  }
  if (account != nullptr && !id.empty() && !hold(holder, *account, cost(uri, id)))
    return refuse(Next::NoRoom);
  holder.uris.insert(uri);
  Entry& entry = entries_[uri];
  entry.leaving.erase(session);
  entry.waiting.push_back({session, id});
  if (!id.empty()) ++holder.waiting;
  return is_new ? Next::AskServer : Next::Wait;
}

bool Subscriptions::hold(Holder& holder, Account& account, std::size_t bytes) {
  if (holder.bytes.amount() > 0) return holder.bytes.resize(holder.bytes.amount() + bytes);
  auto held = account.take(Good::Bytes, bytes);
  if (held) holder.bytes = std::move(*held);
  return held.has_value();
}

std::vector<Subscriptions::Waiting> Subscriptions::answered(const std::string& uri, Answer answer) {
  const bool accepted = answer == Answer::Accepted;
  const auto entry = entries_.find(uri);
  if (entry == entries_.end()) return {};
  std::vector<Waiting> waiting = std::move(entry->second.waiting);
  entry->second.waiting.clear();
  for (const Waiting& one : waiting) stopped_waiting(one, uri);
  const std::set<SessionId> leaving = std::move(entry->second.leaving);
  entry->second.leaving.clear();
  entry->second.asked = false;
  for (const Waiting& one : waiting) {
    if (accepted && !leaving.contains(one.session)) {
      entry->second.subscribers.insert(one.session);
    } else {
      let_go(one.session, uri);
    }
  }
  if (!accepted) entries_.erase(entry);
  return waiting;
}

bool Subscriptions::unsubscribe(SessionId session, const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end()) return false;
  if (entry->second.asked) {
    entry->second.leaving.insert(session);
    return false;
  }
  if (entry->second.subscribers.erase(session) == 0) return false;
  let_go(session, uri);
  return abandoned(uri);
}

std::vector<std::string> Subscriptions::drop(SessionId session) {
  std::vector<std::string> last;
  const auto holder = holders_.extract(session);
  if (holder.empty()) return last;
  for (const std::string& uri : holder.mapped().uris) {
    const auto entry = entries_.find(uri);
    if (entry == entries_.end()) continue;
    std::erase_if(entry->second.waiting, [session](const Waiting& one) { return one.session == session; });
    entry->second.subscribers.erase(session);
    entry->second.leaving.erase(session);
    if (entry->second.asked || !entry->second.subscribers.empty()) continue;
    last.push_back(uri);
    entries_.erase(entry);
  }
  return last;
}

std::size_t Subscriptions::waiting(SessionId session) const {
  const auto holder = holders_.find(session);
  return holder == holders_.end() ? 0 : holder->second.waiting;
}

std::vector<std::string> Subscriptions::give_up(SessionId session) {
  std::vector<std::string> ids;
  const auto holder = holders_.find(session);
  if (holder == holders_.end()) return ids;
  for (const std::string& uri : std::set<std::string>(holder->second.uris)) {
    const auto entry = entries_.find(uri);
    if (entry == entries_.end()) continue;
    std::erase_if(entry->second.waiting, [&](const Waiting& one) {
      const bool its = one.session == session && !one.id.empty();
      if (its) ids.push_back(one.id);
      return its;
    });
    // A subscription that an earlier instance had agreed to still waits: `drop` must find it.
    const bool waits = std::any_of(entry->second.waiting.begin(), entry->second.waiting.end(),
                                   [session](const Waiting& one) { return one.session == session; });
    if (!waits && !entry->second.subscribers.contains(session)) let_go(session, uri);
  }
  if (const auto left = holders_.find(session); left != holders_.end()) {
    left->second.waiting = 0;
    left->second.bytes = {};
  }
  return ids;
}

bool Subscriptions::abandoned(const std::string& uri) {
  const auto entry = entries_.find(uri);
  if (entry == entries_.end() || entry->second.asked || !entry->second.subscribers.empty()) return false;
  entries_.erase(entry);
  return true;
}

bool Subscriptions::holds(SessionId session, const std::string& uri) const {
  const auto entry = entries_.find(uri);
  return entry != entries_.end() && entry->second.subscribers.contains(session);
}

/// A URI above this one ends before or after one of its slashes. Only these beginnings are looked up, so the
/// time does not depend on the number of subscriptions.
std::vector<SessionId> Subscriptions::interested(std::string_view uri) const {
  std::set<SessionId> sessions;
  const auto add = [&](std::string_view beginning) {
    const auto found = entries_.find(beginning);
    if (found == entries_.end()) return;
    sessions.insert(found->second.subscribers.begin(), found->second.subscribers.end());
  };
  if (uri.size() <= kLongestUri) add(uri);
  std::size_t slash = uri.find('/');
  for (std::size_t level = 0; level < kMostLevels && slash < kLongestUri; ++level) {
    add(uri.substr(0, slash));
    if (slash + 1 < uri.size()) add(uri.substr(0, slash + 1));
    slash = uri.find('/', slash + 1);
  }
  return {sessions.begin(), sessions.end()};
}

void Subscriptions::stopped_waiting(const Waiting& one, const std::string& uri) {
  const auto holder = holders_.find(one.session);
  if (holder == holders_.end() || one.id.empty() || holder->second.waiting == 0) return;
  --holder->second.waiting;
  Account::Held& bytes = holder->second.bytes;
  bytes.resize(bytes.amount() - std::min(bytes.amount(), cost(uri, one.id)));
}

void Subscriptions::let_go(SessionId session, const std::string& uri) {
  const auto holder = holders_.find(session);
  if (holder == holders_.end()) return;
  holder->second.uris.erase(uri);
  if (holder->second.uris.empty()) holders_.erase(holder);
}

}  // namespace corral::router
