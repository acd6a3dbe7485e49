#include "pool/waiters.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corral::pool {
namespace {

auto find_in(const std::deque<Waiter>& list, SessionId session) {
  return std::find_if(list.begin(), list.end(),
                      [session](const Waiter& waiter) { return waiter.port->id() == session; });
}

std::vector<SessionId> ids_of(const std::deque<Waiter>& list) {
  std::vector<SessionId> ids;
  ids.reserve(list.size());
  for (const Waiter& waiter : list) ids.push_back(waiter.port->id());
  return ids;
}

}  // namespace

bool Waiters::contains(SessionId session) const {
  return find_in(list_, session) != list_.end() || find_in(dismissed_, session) != dismissed_.end();
}

std::vector<SessionId> Waiters::sessions() const { return ids_of(list_); }

void Waiters::remove(const router::SessionPort& port) {
  const auto is_it = [&port](const Waiter& waiter) { return waiter.port == &port; };
  std::erase_if(list_, is_it);
  std::erase_if(dismissed_, is_it);
}

void Waiters::mark_spawn() {
  if (!list_.empty()) list_.front().way = events::Cause::Spawn;
}

void Waiters::mark_failed() {
  for (Waiter& waiter : list_) waiter.failed = true;
}

Waiter Waiters::take_front() {
  Waiter first = std::move(list_.front());
  list_.pop_front();
  return first;
}

std::vector<SessionId> Waiters::dismiss_all() {
  mark_failed();
  return dismiss_failed();
}

std::vector<SessionId> Waiters::dismiss_failed() {
  const auto failed =
      std::stable_partition(list_.begin(), list_.end(), [](const Waiter& waiter) { return !waiter.failed; });
  const std::deque<Waiter> taken(failed, list_.end());
  list_.erase(failed, list_.end());
  dismissed_.insert(dismissed_.end(), taken.begin(), taken.end());
  return ids_of(taken);
}

void Waiters::answer(const std::vector<SessionId>& dismissed, const Answer& answer) {
  for (const SessionId session : dismissed) {
    const auto found = find_in(dismissed_, session);
    if (found == dismissed_.end()) continue;  // it left when another one was answered
    router::SessionPort& port = *found->port;
    dismissed_.erase(found);
    port.opened(answer(session));
  }
}

}  // namespace corral::pool
