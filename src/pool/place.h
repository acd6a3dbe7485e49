// Where an instance of a server lives, and one after it, and one after that; never two at a time. Sessions
// that share one meet here; a private session has a place of its own.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "knowledge/fingerprint.h"
#include "knowledge/sharing.h"
#include "pool/instance_end.h"
#include "pool/lifecycle.h"
#include "pool/restart_policy.h"
#include "pool/server_spec.h"
#include "router/router.h"

namespace corral::pool {

/// A session that waits for an instance.
struct Asker {
  router::SessionPort* port;
  std::string initialize_params;
  bool failed = false;  // the instance that it waited for did not open
  const char* way =
      "warm";  // how it comes to its instance: "spawn" = one was started for it, "spare", "warm"
};

struct Place {
  Place(Loop& loop, std::string k, std::shared_ptr<const Wanted> w, knowledge::SharingDecision d)
      : key(std::move(k)),
        wanted(std::move(w)),
        decision(std::move(d)),
        delay(loop),
        use(loop),
        drain(loop) {}

  std::string key;
  std::shared_ptr<const Wanted> wanted;
  knowledge::SharingDecision decision;
  pool::Life life = pool::Life::Empty;
  std::unique_ptr<router::Router> router;  // while there is an instance
  std::deque<Asker> askers;

  pool::RestartPolicy policy;
  Timer delay;  // until the next start, or until a broken one may be tried again
  Timer use;    // looks whether it is still used
  Timer drain;
  std::optional<Clock::time_point> ready_since;
  router::LastWords last_words;  // why the last instance died
  int last_exit_code = 125;

  Cause cause = Cause::Died;  // why the present instance ends
  instance::Instance::Haste haste = instance::Instance::Haste::Polite;
  std::optional<Clock::time_point> ending_since;
  std::string started_for;           // the session object whose session asked first
  router::SessionId session;         // private: whose it is
  router::SessionId left_by;         // private: the session that it belonged to, and that is gone by now
  std::set<router::SessionId> left;  // the sessions that the present instance has lost, while it goes
  std::vector<WhenGone> when_gone;

  bool silent_probe = false;     // the last one had no answer to the probe: it must be a legacy server
  knowledge::Fingerprint build;  // of the present instance
  std::string stale;             // what has changed of it since; empty = nothing
  std::string spare_for;         // the sessions that may have it; empty = it is no spare
  bool begun_early = false;      // was a spare, until its session came
  std::string introduction;      // a spare: the words of the client for which it was opened
};

/// Whether its instance is on its way out.
inline bool goes(const Place& place) {
  using pool::Life;
  return place.life == Life::Ending || place.life == Life::Failing || place.life == Life::Dying;
}

}  // namespace corral::pool
