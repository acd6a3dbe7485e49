#include "pool/instance_end.h"

#include "events/event.h"

namespace corral::pool {

const char* cause_name(Cause cause) {
  switch (cause) {
    case Cause::SessionEnded: return "session-ended";
    case Cause::Idle: return "idle";
    case Cause::Parked: return events::name_of(events::Cause::Parked);
    case Cause::Evicted: return "evicted";
    case Cause::Hung: return events::name_of(events::Cause::Hung);
    case Cause::Died: return events::name_of(events::Cause::Died);
    case Cause::Unfit: return "unfit";
    case Cause::Outdated: return "outdated";
    case Cause::Reloaded: return "reloaded";
    case Cause::Restarted: return "restarted";
    case Cause::Stopped: return "stopped";
    case Cause::Recycled: return "recycled";
    case Cause::ShuttingDown: return "shutting-down";
  }
  return "?";
}

std::string sentence_for(Cause cause) {
  switch (cause) {
    case Cause::Idle:
    case Cause::Parked: return "was parked after a time without calls";
    case Cause::Evicted: return "was parked to make room for another server";
    case Cause::Stopped: return "was stopped with `corral stop`";
    case Cause::Reloaded: return "has a new configuration";
    case Cause::Restarted: return "was restarted with `corral restart`";
    case Cause::Hung: return "stopped answering";
    case Cause::Outdated: return "ran code that has changed";
    case Cause::Recycled: return "was replaced because it used too much memory";
    case Cause::ShuttingDown: return "ends because the daemon is shutting down";
    case Cause::SessionEnded:
    case Cause::Died:
    case Cause::Unfit: break;
  }
  return "has ended";
}

router::Departure departure_for(Cause cause) {
  switch (cause) {
    case Cause::Idle:
    case Cause::Parked:
    case Cause::Evicted: return router::Departure::Parked;
    case Cause::Stopped: return router::Departure::Stopped;
    case Cause::Reloaded:
    case Cause::Outdated:
    case Cause::Recycled:
    case Cause::Restarted: return router::Departure::Replaced;
    case Cause::SessionEnded:
    case Cause::Hung:
    case Cause::Died:
    case Cause::Unfit:
    case Cause::ShuttingDown: break;
  }
  return router::Departure::Died;
}

}  // namespace corral::pool
