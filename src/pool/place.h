// Where an instance of a server lives, and one after it, and one after that; never two at a time. Sessions
// that share one meet here; a private session has a place of its own.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/shares.h"
#include "config/configuration.h"
#include "knowledge/fingerprint.h"
#include "knowledge/sharing.h"
#include "pool/lifecycle.h"
#include "pool/restart_policy.h"
#include "proc/launch_spec.h"
#include "router/router.h"

namespace corral::pool {

/// The server that a session wants.
struct Wanted {
  std::string server;  // its name, or the name of the command
  proc::LaunchSpec spec;
  std::string key;  // of `spec`
  config::Share share = config::Share::Auto;
  bool from_configuration = false;
  bool stateless = false;
  std::function<bool(std::string_view)> allows_tool;  // empty = all
  Clock::duration call_timeout = std::chrono::hours(1);
  Clock::duration idle = std::chrono::minutes(10);
  bool restart = true;       // a server that died comes back; otherwise its sessions end with it
  std::optional<bool> park;  // end the tree of a silent session; unset = where it keeps no state
  Clock::duration probe = std::chrono::minutes(1);  // ask a silent server whether it lives; 0 = never
  std::string root;                                 // share = root: the project
  std::optional<knowledge::Era> era;                // as it is configured; unset = found out
  bool eager = false;                               // started when a session attaches
  std::size_t warm = 0;                             // private instances that are kept ready
  config::OnChange on_change = config::OnChange::Roll;
  std::string min_version;               // an older server is refused; empty = none is
  std::optional<std::uint64_t> recycle;  // memory of the tree at which it is replaced
  Account* account = nullptr;            // of the principal that wants it; null = nobody counts
};

/// Not a token's.
inline bool is_users(const Wanted& wanted) { return wanted.account == nullptr || wanted.account->is_user(); }

/// Why an instance is ended.
enum class Cause : std::uint8_t {
  SessionEnded,
  Idle,
  Parked,
  Evicted,
  Hung,
  Died,
  Unfit,     // its handshake went wrong
  Outdated,  // its code has changed on disk
  Reloaded,
  Restarted,
  Stopped,
  Recycled,  // it has grown too large
  ShuttingDown
};
const char* cause_name(Cause cause);  // "session-ended", …

/// An instance that has gone, and the proof.
struct Gone {
  std::string server;
  InstanceId instance;
  pid_t pid = 0;
  Cause cause = Cause::Died;
  instance::Ending ending;
  std::chrono::milliseconds took{};  // from the decision to the proof
};
using WhenGone = std::function<void(const Gone&)>;

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
