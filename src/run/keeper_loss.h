// What `corral run` does when its keeper was killed: it is the nearest subreaper above the tree, so it
// inherits the processes. It ends them, runs the terminators and writes the report.
#pragma once

#include <string>
#include <vector>

#include "keeper/mark.h"
#include "keeper/plan.h"
#include "keeper/report.h"
#include "keeper/sweep.h"
#include "proc/process_tree.h"

namespace corral::run {

/// Counts how many checks in a row found no process, until the result can be trusted. Pure.
class CleanLooks {
 public:
  enum class Look : bool { FoundSome, Clean };

  static constexpr int kByProof = 1;       // the kernel reported that there is no child
  static constexpr int kWithoutProof = 2;  // a list of children was read

  explicit CleanLooks(int wanted) : wanted_(wanted) {}

  /// Records the result of the next check; true once enough of them were clean.
  bool enough(Look look) {
    in_a_row_ = look == Look::Clean ? in_a_row_ + 1 : 0;
    return in_a_row_ >= wanted_;
  }
  bool last_was_clean() const { return in_a_row_ > 0; }

 private:
  int wanted_;
  int in_a_row_ = 0;
};

/// Used on one thread; `report` must outlive it.
class KeeperLoss {
 public:
  explicit KeeperLoss(keeper::Report& report) : report_(report), sweep_(report), started_(keeper::now()) {}

  /// Call before the keeper starts: a shell may have had children before it executed this program.
  void spare_present_children() { had_children_ = sweep_.spare_present_children(); }

  /// Call when a child was reaped elsewhere, because its pid may be reused.
  void forget(pid_t pid) { sweep_.forget_spared(pid); }

  /// Ends the orphans: SIGTERM, a short grace, time for keepers of a corral inside the tree, then SIGKILL
  /// until none is left. Blocks.
  void finish(const proc::ProcessTree& tree, int report_fd);

  /// The executable in the plan, for messages.
  static std::string executable(const proc::ProcessTree& tree);

 private:
  static bool spares_strangers(pid_t pid, void* self);
  bool is_ours(pid_t pid) const;
  void learn_instances();
  bool end_tree(const keeper::Plan& plan, keeper::Micros began);
  bool kill_rest(const keeper::Plan& plan, keeper::Micros until);
  void doubt_remaining_children();

  keeper::Report& report_;
  keeper::Sweep sweep_;
  keeper::Micros started_;
  std::uint64_t rlimit_tag_ = 0;  // from the plan: the keeper may have died before it could report it
  bool had_children_ = false;
  std::vector<std::string> inside_;  // instances of a corral inside the tree, whose servers carry its marks
};

}  // namespace corral::run
