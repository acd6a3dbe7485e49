#include "keeper/ending.h"

#include <algorithm>

namespace corral::keeper {

Ending::Action Ending::stdin_closed(Micros now) {
  if (phase_ != Phase::Open) return Action::None;
  begin(Reason::StdinClosed, now);
  phase_ = Phase::Draining;
  deadline_ = now + graces_.stdin_closed;
  unread_until_ = now + graces_.unread_cap;
  return Action::None;
}

Ending::Action Ending::client_gone(Reason reason, Micros now) {
  in_haste_ = true;
  if (phase_ == Phase::Open) {
    begin(reason, now);
    phase_ = Phase::Draining;
    deadline_ = now + graces_.hasty;
  } else {
    hasten(now + graces_.hasty);
  }
  return Action::None;
}

Ending::Action Ending::demanded(Reason reason, Micros now) {
  const bool again = demanded_;
  demanded_ = true;
  if (waiting()) {
    begin(reason, now);
    return terminate(now, in_haste_ ? std::min(graces_.hasty, graces_.term) : graces_.term);
  }
  hasten(now + (again ? graces_.hasty : graces_.term));
  return Action::None;
}

Ending::Action Ending::owner_gone(Micros now) {
  in_haste_ = true;
  if (waiting()) {
    begin(Reason::OwnerGone, now);
    return terminate(now, std::min(graces_.hasty, graces_.term));
  }
  hasten(now + graces_.hasty);
  return Action::None;
}

Ending::Action Ending::server_exited(Micros now) {
  if (waiting()) {
    begin(Reason::ServerExited, now);
    return terminate(now, std::min(graces_.hasty, graces_.term));
  }
  hasten(now + graces_.hasty);
  return Action::None;
}

Ending::Action Ending::tick(Micros now, Input input, Below below) {
  if (phase_ == Phase::Draining && input == Input::Unread && !in_haste_ && now < unread_until_) {
    deadline_ = std::min(now + graces_.stdin_closed, unread_until_);
    return Action::None;
  }
  if (phase_ == Phase::Yielding && below == Below::Nobody) return kill(now);
  if (phase_ == Phase::Open || phase_ == Phase::GaveUp || now < deadline_) return Action::None;
  if (phase_ == Phase::Draining) {
    return terminate(now, in_haste_ ? std::min(graces_.hasty, graces_.term) : graces_.term);
  }
  if (phase_ == Phase::Terminating && below == Below::Keepers) {
    phase_ = Phase::Yielding;
    deadline_ = now + graces_.nested;
    return Action::Yield;
  }
  if (phase_ == Phase::Terminating || phase_ == Phase::Yielding) return kill(now);
  phase_ = Phase::GaveUp;
  return Action::GiveUp;
}

std::optional<Micros> Ending::deadline() const {
  if (phase_ == Phase::Open || phase_ == Phase::GaveUp) return std::nullopt;
  return deadline_;
}

void Ending::begin(Reason reason, Micros now) {
  if (phase_ != Phase::Open) return;
  reason_ = reason;
  began_ = now;
}

Ending::Action Ending::terminate(Micros now, Micros grace) {
  phase_ = Phase::Terminating;
  deadline_ = now + grace;
  return Action::Terminate;
}

Ending::Action Ending::kill(Micros now) {
  phase_ = Phase::Killing;
  deadline_ = now + graces_.kill;
  return Action::Kill;
}

/// Yielding is not shortened: keepers below already know that the session ends and hurry. Neither is Killing,
/// whose deadline allows for the kernel's work.
void Ending::hasten(Micros at_latest) {
  if (phase_ == Phase::Draining || phase_ == Phase::Terminating) deadline_ = std::min(deadline_, at_latest);
}

}  // namespace corral::keeper
