#include "events/slow_turn.h"

#include <string>

namespace corral::events {

Event event_of(const SlowTurn& turn) {
  Event event;
  event.kind = Kind::SlowTurn;
  event.cause = turn.longest.what != nullptr ? turn.longest.what : "unknown";
  event.took = turn.cpu;
  event.count = turn.longest.count;
  event.text = "one turn of the daemon's loop took " + std::to_string(turn.cpu.count()) +
               " ms of CPU time (" + std::to_string(turn.wall.count()) + " ms wall time, " +
               std::to_string(turn.calls) + " calls) and delayed all sessions; most of it went to " +
               event.cause + ": " + std::to_string(turn.longest.count) + ", " +
               std::to_string(turn.longest.bytes) + " bytes";
  return event;
}

}  // namespace corral::events
