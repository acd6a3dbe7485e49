// Ends everything that lives below this process, and proves it. Works for any process that is a child
// subreaper: the keeper uses it for its tree, an owner for what it inherits when a keeper was killed.
//
// Only our own children, born or adopted, are ever signalled: a child that we have not reaped keeps its pid,
// so no innocent process can be hit. Killing a parent hands its children to us; the loop ends when wait says
// ECHILD, which is the kernel's word that nothing is left.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "keeper/mark.h"
#include "keeper/report.h"

namespace corral::keeper {

/// Orphans below us come to us from now on, instead of to init.
bool become_subreaper();

class Sweep {
 public:
  /// Whether the report lists who was reaped, besides the leader.
  enum class Record : std::uint8_t { Leader, Everybody };

  explicit Sweep(Report& report) : report_(report) {}

  /// Remembers the children that are there already: a shell may have had some before it became us. True if
  /// any.
  bool spare_present_children();

  /// Once reaped, the pid may be given to somebody else, who is not to be spared. True if it was one of them.
  bool forget_spared(pid_t pid);

  /// From now on only processes with this mark are touched: orphans of spared children come to us as well.
  void only(const Mark& mark) { mark_ = mark; }

  /// Signals whole groups where that is safe, or only single processes, since a group may hold a spared one.
  enum class Aim : std::uint8_t { Groups, Processes };

  /// From now on `spares` is asked about every child before it is touched; true leaves it alone.
  void spare_if(bool (*spares)(pid_t pid, void* context), void* context, Aim aim) {
    spares_ = spares;
    context_ = context;
    aim_ = aim;
  }

  /// SIGTERM, then SIGCONT for the stopped, once to each group among our children. Call it again to reach
  /// those that were adopted since.
  void terminate();

  /// Reaps who is dead, for a bounded time: a storm of processes that end at once must not keep us from
  /// everything else. The status of `leader` goes to the report. True once no child is left.
  bool reap(pid_t leader, Record record);

  /// Whether the last call of `reap` came to its bound: call it again without waiting.
  bool more() const { return more_; }

  /// One pass of SIGKILL to our children, one by one, but not to those whom `spares` names.
  void kill_except(bool (*spares)(pid_t pid, void* context), void* context);

  /// Kills until nothing is left (true) or `patience` is over.
  bool kill_all(pid_t leader, Micros patience, Record record);

  /// Fills in who is left and why.
  void list_survivors();

 private:
  static constexpr std::size_t kMostGroups = 1024;
  static constexpr std::size_t kMostSpared = 64;
  // What one call of `reap` may do before it returns.
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
