// Makes snapshots of the daemon's state (observe/snapshot.h). Everything that users and agents see is made
// from one of these, so that no two views can disagree. Must be used on the loop's thread; the hub owns it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "base/loop.h"
#include "daemon/connected_sessions.h"
#include "daemon/owned_sessions.h"
#include "daemon/records.h"
#include "daemon/server_definitions.h"
#include "daemon/unattended_watch.h"
#include "observe/snapshot.h"
#include "pool/pool.h"

namespace corral::daemon {

class Snapshots {
 public:
  /// The parts whose state is shown. All must outlive this object.
  struct Sources {
    const ServerDefinitions& definitions;
    const pool::Pool& pool;
    const ConnectedSessions& sessions;
    const OwnedSessions& owned;
    const UnattendedWatch& unattended;
    Records& records;
  };
  Snapshots(Loop& loop, const Sources& sources) : loop_(loop), sources_(sources) {}

  /// The current state, without the memory and CPU use of the process trees.
  observe::Snapshot now() const { return make(nullptr); }
  /// The same with the usage, which a thread measures. `done` is called once, later, but not after this
  /// object was destroyed. If /proc hangs, it is called after a few seconds without the usage.
  using Done = std::function<void(const observe::Snapshot&)>;
  void measure(Done done);

  /// `describe` is called for each snapshot.
  void describe_pid_file_with(std::function<observe::PidFileView()> describe) {
    pid_file_ = std::move(describe);
  }
  /// Sets where the daemon accepts HTTP. `url` is empty without a TCP port.
  void reached_at(std::string url, std::string unix_path) { http_ = {std::move(url), std::move(unix_path)}; }

 private:
  observe::Snapshot make(const observe::Usage* usage) const;
  observe::DaemonView daemon() const;
  void add_servers(observe::Snapshot& snapshot) const;

  Loop& loop_;
  const Sources sources_;
  const Clock::time_point started_ = Clock::now();
  std::function<observe::PidFileView()> pid_file_;
  observe::HttpView http_;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
