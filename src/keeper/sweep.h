// Ends everything below this process and proves it. Works in any child subreaper: a keeper uses it for its
// tree, an owner for the processes that it inherits when a keeper was killed.
//
// Only children of this process, born or adopted, are ever signalled: a child that has not been reaped keeps
// its pid, so no other process can be hit. Killing a parent makes its children ours; the loop ends when wait
// returns ECHILD, which is the kernel's proof that nothing is left.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "keeper/mark.h"
#include "keeper/report.h"

namespace corral::keeper {

/// From now on, orphans below this process become its children instead of init's.
bool become_subreaper();

/// Large: keep it in static memory. `report` must outlive it. The caller blocks SIGCHLD.
class Sweep {
 public:
  /// Which reaped processes the report lists.
  enum class Record : std::uint8_t { Leader, Everybody };

  explicit Sweep(Report& report) : report_(report) {}

  /// Remembers the children that exist already, so that they are left alone: a shell may have had some before
  /// it executed this program. Returns true if there are any.
  bool spare_present_children();

  /// Call after reaping, because the pid may be reused by a process that must not be spared. True if it was a
  /// spared child.
  bool forget_spared(pid_t pid);

  /// From now on only processes with this mark are signalled. Needed because orphans of spared children also
  /// become ours.
  void only(const Mark& mark) { mark_ = mark; }

  /// Signal whole groups where that is safe, or only single processes because a group may contain a spared
  /// one.
  enum class Aim : std::uint8_t { Groups, Processes };

  /// From now on `spares` is called for every child before it is signalled; true leaves the child alone.
  void spare_if(bool (*spares)(pid_t pid, void* context), void* context, Aim aim) {
    spares_ = spares;
    context_ = context;
    aim_ = aim;
  }

  /// Sends SIGTERM and then SIGCONT (for stopped processes), once to each group among our children. Call
  /// again to reach children that were adopted since.
  void terminate();

  /// Reaps dead children for a bounded time, so that a storm of exits cannot block the caller. The status of
  /// `leader` goes to the report. Returns true once no child is left.
  bool reap(pid_t leader, Record record);

  /// Whether the last call of `reap` reached its bound: call it again without waiting.
  bool more() const { return more_; }

  /// One pass of SIGKILL to each child except those for which `spares` returns true.
  void kill_except(bool (*spares)(pid_t pid, void* context), void* context);

  /// Kills until nothing is left (true) or `patience` is over (false). Blocks.
  bool kill_all(pid_t leader, Micros patience, Record record);

  /// Records the processes that are left and why.
  void list_survivors();

 private:
  static constexpr std::size_t kMostGroups = 1024;
  static constexpr std::size_t kMostSpared = 64;
  // The bound of one call of `reap`.
  static constexpr int kMostReaped = 256;
  static constexpr Micros kReapTime{5000};

  void kill_pass(Micros deadline);
  bool kill_if_alive(pid_t child);
  bool reap_one(pid_t leader, Record record, bool& none_left);
  pid_t group_to_signal(pid_t child) const;
  bool newly_terminated(pid_t group);
  bool only_spared_left() const;
  bool spared(pid_t pid) const;

  Report& report_;
  Mark mark_;
  bool (*spares_)(pid_t pid, void* context) = nullptr;
  void* context_ = nullptr;
  Aim aim_ = Aim::Groups;
  bool more_ = false;
  Micros pass_until_{0};
  pid_t last_group_ = 0;
  pid_t terminated_[kMostGroups];
  std::size_t terminated_count_ = 0;
  pid_t spared_[kMostSpared];
  std::size_t spared_count_ = 0;
};

}  // namespace corral::keeper
