#include "keeper/inherited.h"

#include <csignal>

namespace corral::keeper {

void Inherited::spare_present_children() {
  had_children_ = everybody_.spare_present_children();
  orphans_.spare_present_children();
}

void Inherited::forget(pid_t pid) {
  everybody_.forget_spared(pid);
  orphans_.forget_spared(pid);
}

bool Inherited::end(const FileId& helper) {
  helper_ = helper;
  const Sweep::Aim aim = had_children_ ? Sweep::Aim::Processes : Sweep::Aim::Groups;
  orphans_.spare_if(spares_keepers, this, aim);
  everybody_.spare_if(spares_strangers, this, aim);
  const Micros began = now();
  if (wait_for_keepers(began)) return true;
  const Micros left = began + kKeepersFinish + kLastKills - now();
  if (everybody_.kill_all(0, left, Sweep::Record::Leader)) return true;
  everybody_.list_survivors();
  return false;
}

/// Waits for keepers, which end their trees in order and run the terminators. Processes without a keeper get
/// SIGTERM, and SIGKILL soon after.
bool Inherited::wait_for_keepers(Micros began) {
  constexpr timespec kPause{0, 20'000'000};
  sigset_t deaths;
  sigemptyset(&deaths);
  sigaddset(&deaths, SIGCHLD);
  while (now() - began < kKeepersFinish) {
    if (everybody_.reap(0, Sweep::Record::Leader)) return true;
    const bool more = everybody_.more();
    if (now() - began < kOrphansFinish) {
      orphans_.terminate();
    } else {
      orphans_.kill_all(0, Micros(0), Sweep::Record::Leader);
    }
    if (!more) sigtimedwait(&deaths, nullptr, &kPause);
  }
  return false;
}

bool Inherited::spares_keepers(pid_t pid, void* self) {
  return is_keeper(pid, static_cast<const Inherited*>(self)->helper_) || spares_strangers(pid, self);
}

/// If this process had children before, their orphans become ours too. Every process that corral started
/// carries a cookie.
bool Inherited::spares_strangers(pid_t pid, void* self) {
  const auto& inherited = *static_cast<const Inherited*>(self);
  return inherited.had_children_ && !is_keeper(pid, inherited.helper_) && !carries(pid, Mark{"", 0});
}

}  // namespace corral::keeper
