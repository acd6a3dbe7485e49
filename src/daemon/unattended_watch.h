// Watches the sessions that are held by a background process of their client, such as the one of Codex, and
// parks them when nobody has been attached to that process for a time (`unattended`), or reports them once if
// they may keep state. docs/decisions/0049-what-the-daemon-watches.md has the rule.
//
// Costs one look for each session of any client, shortly after it got its instance. It looks again only while
// there is an instance whose session such a process holds, so a daemon without one is never woken. Must be
// used on the loop's thread; the hub owns it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "daemon/connected_sessions.h"
#include "daemon/server_definitions.h"
#include "events/stream.h"
#include "pool/pool.h"
#include "survey/attendance.h"

namespace corral::daemon {

class UnattendedWatch {
 public:
  struct Parts {
    const ServerDefinitions& definitions;
    pool::Pool& pool;
    ConnectedSessions& sessions;
    events::Stream& events;
  };
  using Answer = std::function<void(const std::vector<survey::Background>&)>;
  /// Reads the background processes of these processes, in their order, and calls `answer` once, later, on
  /// the loop.
  using Read = std::function<void(std::vector<pid_t>, Answer answer)>;

  /// The parts must outlive this object.
  UnattendedWatch(Loop& loop, const Parts& parts, Read read);

  /// For tests: who is attached is what `read` says.
  void read_with(Read read) { read_ = std::move(read); }

  /// For people: that nobody is attached to the clients of the instance, since when, and what follows. Empty
  /// if somebody is, or if that is not known.
  std::string note_on(const pool::Slot& slot) const;

 private:
  void look_in(Clock::duration after);
  void look();
  void hear(const std::vector<SessionId>& sessions, const std::vector<survey::Background>& found);
  void judge();
  void judge(const pool::Slot& slot, std::vector<InstanceId>& over);
  void look_later();

  bool is_watched(const ConnectedSession& connected) const;
  pool::UnattendedRule rule_for(const pool::ServerSpec& spec) const;
  /// The session that was left last; null if somebody is attached to one of them, or if there is none.
  const ConnectedSession* left_last(const pool::Slot& slot) const;
  std::string how_to_park(const pool::ServerSpec& spec) const;
  void tell(const pool::Slot& slot, const ConnectedSession& left, events::Cause cause,
            const std::string& what);

  const Parts parts_;
  Read read_;
  Timer timer_;
  Clock::time_point next_look_{};
  bool reading_ = false;
  bool again_ = false;          // a session came while that was being read
  std::set<std::string> told_;  // instances that may keep state and were reported
  Lifetime lifetime_;
};

}  // namespace corral::daemon
