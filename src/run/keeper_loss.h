// What the outer does when the keeper was killed: the tree fell to us, the nearest subreaper above it. So we
// end it ourselves, run the terminators and write the report.
#pragma once

#include <string>
#include <vector>

#include "keeper/mark.h"
#include "keeper/plan.h"
#include "keeper/report.h"
#include "keeper/sweep.h"
#include "proc/process_tree.h"

namespace corral::run {

/// How many looks in a row must find nobody before that is believed. Pure.
class CleanLooks {
 public:
  static constexpr int kByProof = 1;       // the kernel said that there is no child
  static constexpr int kWithoutProof = 2;  // a list was read

  explicit CleanLooks(int wanted) : wanted_(wanted) {}

  /// What the next look has found; true once there were enough.
  bool enough(bool clean) {
    in_a_row_ = clean ? in_a_row_ + 1 : 0;
    return in_a_row_ >= wanted_;
  }
  bool last_was_clean() const { return in_a_row_ > 0; }

 private:
  int wanted_;
  int in_a_row_ = 0;
};

class KeeperLoss {
 public:
  explicit KeeperLoss(keeper::Report& report) : report_(report), sweep_(report), started_(keeper::now()) {}

  /// Call before the keeper starts: a shell may have had children before it became us.
  void spare_present_children() { had_children_ = sweep_.spare_present_children(); }

  /// A child that was reaped elsewhere: its number may go to somebody else.
  void forget(pid_t pid) { sweep_.forget_spared(pid); }

  /// Ends the orphans: SIGTERM, a short grace, time for keepers of a corral inside, SIGKILL until none is
  /// left.
  void finish(const proc::ProcessTree& tree, int report_fd);

  /// The file that the plan names, for messages.
  static std::string executable(const proc::ProcessTree& tree);

 private:
  static bool spares_strangers(pid_t pid, void* self);
  bool is_ours(pid_t pid) const;
  void learn_instances();
  bool end_tree(const keeper::Plan& plan, keeper::Micros began);
  bool kill_rest(const keeper::Plan& plan, keeper::Micros until);
  void doubt_whoever_is_left();

  keeper::Report& report_;
  keeper::Sweep sweep_;
  keeper::Micros started_;
  std::uint64_t rlimit_tag_ = 0;  // from the plan: the keeper may have died before it could tell
  bool had_children_ = false;
  std::vector<std::string> inside_;  // instances of a corral inside the tree, whose servers carry their marks
};

}  // namespace corral::run
