#include "pool/waiters.h"

#include <algorithm>
#include <utility>

namespace corral::pool {

void answer_all(const std::deque<Waiter>& waiters, const router::Opened& answer) {
  for (const Waiter& waiter : waiters) waiter.port->opened(answer);
}

bool Waiters::contains(SessionId session) const {
  return std::any_of(list_.begin(), list_.end(),
                     [session](const Waiter& waiter) { return waiter.port->id() == session; });
}

void Waiters::remove(const router::SessionPort& port) {
  std::erase_if(list_, [&port](const Waiter& waiter) { return waiter.port == &port; });
}

void Waiters::mark_spawn() {
  if (!list_.empty()) list_.front().way = "spawn";
}

void Waiters::mark_failed() {
  for (Waiter& waiter : list_) waiter.failed = true;
}

Waiter Waiters::take_front() {
  Waiter first = std::move(list_.front());
  list_.pop_front();
  return first;
}

std::deque<Waiter> Waiters::take_failed() {
  const auto failed =
      std::stable_partition(list_.begin(), list_.end(), [](const Waiter& waiter) { return !waiter.failed; });
  std::deque<Waiter> taken(std::make_move_iterator(failed), std::make_move_iterator(list_.end()));
  list_.erase(failed, list_.end());
  return taken;
}

}  // namespace corral::pool
