// The child processes of the daemon: its keepers, and the processes that it inherits when a keeper was
// killed. Reaps all of them, and ends those that are not keepers. Used on the loop's thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "base/unique_fd.h"

namespace corral::instance {

/// How much time each keeper of a nested corral gets, in a tree that the daemon has inherited, to end its own
/// tree. Its time runs from the first look at it and is not prolonged when another process ends, because in a
/// busy daemon one always does. Pure.
///
/// A process that appears long after the last of the daemon's own keepers ended gets no time: a process that
/// only looks like a keeper could fork forever and have time again after each fork.
class NestedKeepers {
 public:
  enum class Turn { Ask, Wait, Kill };  // what to do with a nested keeper now

  /// One of the daemon's own keepers has ended; its tree may have had nested ones in it.
  void expect(Clock::time_point now);
  Turn turn_of(pid_t keeper, Clock::time_point now);
  /// It was reaped, so its pid may now belong to another process.
  void forget(pid_t keeper) { seen_.erase(keeper); }

 private:
  Clock::time_point expected_until_{};
  std::map<pid_t, Clock::time_point> seen_;
};

/// The callbacks that wait for the end of the trees of killed keepers, each with a deadline of its own. Pure.
class WaitingForOrphans {
 public:
  enum class Tree : std::uint8_t {
    ProvedGone,
    Overdue,  // not known to be gone when the deadline passed
  };
  using Done = std::function<void(Tree tree)>;

  void add(pid_t keeper, Done done, Clock::time_point until);
  bool empty() const { return waiting_.empty(); }

  /// Removes and returns those whose keeper is `reaped`, for use when no orphan is left.
  std::vector<Done> take_proved(const std::function<bool(pid_t)>& reaped);
  /// Removes and returns those whose deadline has passed.
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
  /// Blocks SIGCHLD and receives it through a descriptor from now on; the process becomes a subreaper.
  /// `loop` must outlive this object.
  explicit Children(Loop& loop);

  /// Registers a child that must not be ended as an orphan. `ended` is called with its wait status, once,
  /// from the loop.
  using Ended = std::function<void(int status)>;
  void started(pid_t pid, Ended ended = nullptr) { keepers_.insert_or_assign(pid, std::move(ended)); }
  /// For a keeper that was killed, so that its tree belongs to the daemon now. Ends the tree, and looks again
  /// until nothing is left. `done` is called once, from the loop and within 10 s, with whether that was seen.
  using Tree = WaitingForOrphans::Tree;
  using Done = WaitingForOrphans::Done;
  void end_orphans_of(pid_t keeper, Done done);

 private:
  void wait_for_deaths();
  void end_orphans();
  void look_again();
  bool is_reaped(pid_t keeper) const;
  /// True if a keeper was among them. Only then does the daemon have its children: a process that ends closes
  /// its lifeline first, and the kernel reparents its children later.
  bool reap();
  std::size_t kill_orphans();

  UniqueFd deaths_;
  Watch watch_;
  Timer again_;
  std::map<pid_t, Ended> keepers_;
  WaitingForOrphans waiting_;
  NestedKeepers nested_;
  Clock::time_point give_up_{};  // when the search ends if no callback waits
};

}  // namespace corral::instance
