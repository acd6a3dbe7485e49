// What the outer does when the keeper was killed: the tree fell to us, the nearest subreaper above it. So we
// end it ourselves, run the terminators and write the report.
#pragma once

#include <string>

#include "keeper/report.h"
#include "keeper/sweep.h"
#include "proc/process_tree.h"

namespace corral::run {

class KeeperLoss {
 public:
  explicit KeeperLoss(keeper::Report& report) : report_(report), sweep_(report), started_(keeper::now()) {}

  /// Call before the keeper starts: a shell may have had children before it became us.
  void spare_present_children() { had_children_ = sweep_.spare_present_children(); }

  /// A child that was reaped elsewhere: its number may go to somebody else.
  void forget(pid_t pid) { sweep_.forget_spared(pid); }

  /// The number that marks the tree, once the keeper has chosen it.
  void set_rlimit_tag(std::uint64_t tag) { rlimit_tag_ = tag; }

  /// Ends the orphans: SIGTERM, a short grace, SIGKILL until none is left.
  void finish(const proc::ProcessTree& tree, int report_fd);

  /// The file that the plan names, for messages.
  static std::string executable(const proc::ProcessTree& tree);

 private:
  keeper::Report& report_;
  keeper::Sweep sweep_;
  keeper::Micros started_;
  std::uint64_t rlimit_tag_ = 0;
  bool had_children_ = false;
};

}  // namespace corral::run
