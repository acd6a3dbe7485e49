// Turns a SlowTurn of the loop into an event. It says which work it was and how much of it, without text from
// a peer.
#pragma once

#include "base/loop.h"
#include "events/event.h"

namespace corral::events {

/// `cause` is the work that took longest, `count` its amount, `took` the thread's CPU time.
Event event_of(const SlowTurn& turn);

}  // namespace corral::events
