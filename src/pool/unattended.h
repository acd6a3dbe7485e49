// When an instance ends although its sessions are open: because nobody is attached any more to the background
// process that holds them. Pure; the pool asks, and the daemon knows who is attached.
#pragma once

#include <optional>

#include "base/clock.h"

namespace corral::pool {

/// What the user has written about such instances.
struct UnattendedRule {
  std::optional<Clock::duration> asked;  // "unattended" of the entry or of the daemon; zero = never
  Clock::duration usual{};               // if nothing is written

  Clock::duration after() const { return asked.value_or(usual); }
};

struct UnattendedUse {
  bool in_use = false;           // it has calls in flight, open progress or open subscriptions
  bool keeps_no_state = false;   // there is evidence that nothing is lost
  Clock::duration unused{};      // since its last message
  Clock::duration unattended{};  // since nobody has been attached to any of its clients
};

struct UnattendedVerdict {
  bool parks = false;      // it ends when its time is over; otherwise it is only reported
  bool over = false;       // its time is over
  Clock::duration left{};  // until then, if nothing happens
};

UnattendedVerdict judge_unattended(const UnattendedUse& use, const UnattendedRule& rule);

}  // namespace corral::pool
