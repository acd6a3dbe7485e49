// The state of the daemon at one moment, as values. Everything that people and agents are shown is made from
// one of these, so that no two views can disagree. Belongs to the loop thread; the hub owns it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "daemon/connected_sessions.h"
#include "daemon/owned_sessions.h"
#include "daemon/records.h"
#include "daemon/server_definitions.h"
#include "observe/snapshot.h"
#include "pool/pool.h"

namespace corral::daemon {

class Snapshots {
 public:
  /// What is shown. All outlive it.
  struct Sources {
    const ServerDefinitions& definitions;
    const pool::Pool& pool;
    const ConnectedSessions& sessions;
    const OwnedSessions& owned;
    Records& records;
  };
  Snapshots(Loop& loop, const Sources& sources) : loop_(loop), sources_(sources) {}

  /// The state now, without what the process trees use.
  observe::Snapshot now() const { return make(nullptr); }
  /// The same with what they use, which a thread looks up. `done` is called later, once; not after this
  /// object is gone. Where /proc hangs it is called after some seconds, without the usage.
  using Done = std::function<void(const observe::Snapshot&)>;
  void measure(Done done);

  /// How the pid file is; asked for each snapshot.
  void describe_pid_file_with(std::function<observe::PidFileView()> describe) {
    pid_file_ = std::move(describe);
  }
  /// Where the daemon is reached by HTTP. `url` is empty without a TCP port.
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::daemon
