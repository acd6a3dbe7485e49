// A turn of the loop that took too long, as an event: which work it was and how much of it, no word of a
// peer.
#pragma once

#include "base/loop.h"
#include "events/event.h"

namespace corral::events {

/// `cause` is the work that took longest, `count` how much of it there was, `took` the thread's time.
Event event_of(const SlowTurn& turn);

}  // namespace corral::events
