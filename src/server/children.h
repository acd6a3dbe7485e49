// The children of the daemon: its keepers, and what falls to it when a keeper was killed. Reaps all of them,
// and ends whatever is no keeper.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "base/unique_fd.h"

namespace corral::server {

class Children {
 public:
  /// Blocks SIGCHLD and listens to it from now on; the process becomes a subreaper.
  explicit Children(Loop& loop);

  /// A child that is meant to be there, until it dies. `ended` hears its wait status.
  using Ended = std::function<void(int status)>;
  void started(pid_t pid, Ended ended = nullptr) { keepers_.insert_or_assign(pid, std::move(ended)); }
  /// A keeper was killed: its tree is ours now. Ends it, looking again until nothing is left; `done` hears
  /// whether that was seen.
  using Done = std::function<void(bool proved)>;
  void end_orphans_of(pid_t keeper, Done done);

 private:
  void wait_for_deaths();
  void end_orphans();
  void look_again();
  void tell_waiting(bool proved);
  /// True if a keeper was among them. Only then has the kernel handed its children to us: a dying process
  /// closes its life line first and gives its children away later.
  bool reap();
  std::size_t kill_orphans();

  UniqueFd deaths_;
  Watch watch_;
  Timer again_;
  std::map<pid_t, Ended> keepers_;
  struct Waiting {
    pid_t keeper;
    Done done;
  };
  std::vector<Waiting> waiting_;
  Clock::time_point give_up_{};
};

}  // namespace corral::server
