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

namespace corral::instance {

/// How long each keeper of a corral inside a tree that fell to us is let alone. Its time runs from the first
/// look at it, whatever else dies meanwhile: in a busy daemon something always does. Pure.
///
/// What turns up long after the last of our own keepers died has no such tree to end: a process that looks
/// like a keeper could fork for ever, and have time each time.
class NestedKeepers {
 public:
  enum class Turn { Ask, Wait, Kill };

  /// A keeper of ours has died, whose tree may have had others in it.
  void expect(Clock::time_point now);
  Turn turn_of(pid_t keeper, Clock::time_point now);
  /// It was reaped: the number may go to somebody else.
  void forget(pid_t keeper) { seen_.erase(keeper); }

 private:
  Clock::time_point expected_until_{};
  std::map<pid_t, Clock::time_point> seen_;
};

/// Who wants to hear that the tree of a killed keeper is gone, each until a time of his own. Pure.
class WaitingForOrphans {
 public:
  using Done = std::function<void(bool proved)>;

  void add(pid_t keeper, Done done, Clock::time_point until);
  bool empty() const { return waiting_.empty(); }

  /// Takes out those who hear now that nothing is left.
  std::vector<Done> take_proved(const std::function<bool(pid_t)>& reaped);
  /// Takes out those whose time is over.
  std::vector<Done> take_overdue(Clock::time_point now);

 private:
  struct Waiting {
    pid_t keeper;
    Done done;
    Clock::time_point until;
  };
  template <class Over>
  std::vector<Done> take(Over over);

  std::vector<Waiting> waiting_;
};

class Children {
 public:
  /// Blocks SIGCHLD and listens to it from now on; the process becomes a subreaper.
  explicit Children(Loop& loop);

  /// A child that is meant to be there, until it dies. `ended` hears its wait status.
  using Ended = std::function<void(int status)>;
  void started(pid_t pid, Ended ended = nullptr) { keepers_.insert_or_assign(pid, std::move(ended)); }
  /// A keeper was killed: its tree is ours now. Ends it, looking again until nothing is left; `done` hears
  /// whether that was seen, within 10 s.
  using Done = WaitingForOrphans::Done;
  void end_orphans_of(pid_t keeper, Done done);

 private:
  void wait_for_deaths();
  void end_orphans();
  void look_again();
  bool is_reaped(pid_t keeper) const;
  /// True if a keeper was among them. Only then has the kernel handed its children to us: a dying process
  /// closes its life line first and gives its children away later.
  bool reap();
  std::size_t kill_orphans();

  UniqueFd deaths_;
  Watch watch_;
  Timer again_;
  std::map<pid_t, Ended> keepers_;
  WaitingForOrphans waiting_;
  NestedKeepers nested_;
  Clock::time_point give_up_{};  // looking without anybody who waits
};

}  // namespace corral::instance
