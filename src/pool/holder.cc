#include "pool/holder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pool/waiters.h"
#include "router/router.h"

namespace corral::pool {

using router::SessionPort;

Holder Holder::of(SessionId session) {
  Holder holder;
  holder.session_ = session;
  return holder;
}

Holder Holder::spare(std::string for_whom, std::string introduction) {
  Holder holder;
  holder.spare_for_ = std::move(for_whom);
  holder.introduction_ = std::move(introduction);
  return holder;
}

void Holder::give_to(const SessionPort& port) {
  session_ = port.id();
  object_ = port.owner();
  spare_for_.clear();
  introduction_.clear();
  given_ = true;
}

void Holder::started_for(const Waiters& waiters) {
  if (!waiters.empty()) object_ = waiters.front().port->owner();
}

void Holder::hand_on(const router::Router* router, const Waiters& waiters) {
  std::vector<const SessionPort*> users;
  if (router != nullptr) {
    for (const auto& [id, port] : router->sessions()) users.push_back(port);
  }
  for (const Waiter& waiter : waiters) users.push_back(waiter.port);
  const auto used_by = [&users](const std::string& object) {
    return std::any_of(users.begin(), users.end(),
                       [&object](const SessionPort* user) { return user->owner() == object; });
  };
  if (users.empty() || object_.empty() || used_by(object_)) return;
  // While a session without an object uses the instance, no object may end it.
  object_ = used_by("") ? "" : users.front()->owner();
}

}  // namespace corral::pool
