// Looks now and then whether registry, /proc and keepers agree, and repairs or tells what does not; also what
// other programs have lost, if the configuration asks for it.
// Belongs to the loop thread; the looking is done on the thread of the records.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "daemon/hub.h"
#include "reap/agreement.h"

namespace corral::daemon {

class Watchdog {
 public:
  /// Both outlive it.
  Watchdog(Loop& loop, Hub& hub);
  ~Watchdog();

  /// Begins to look. The interval is read before each look, because the configuration may change.
  void start();

 private:
  struct Foreign;

  void wait();
  void look();
  void look_at_own();
  void handle(std::vector<reap::Disagreement> now);
  void repair(const reap::Disagreement& found);
  void look_at_foreign();

  Hub& hub_;
  Records& records_;
  Timer timer_;
  std::vector<reap::Disagreement> before_;
  std::set<std::string> told_;
  std::set<std::string> repairing_;   // instances
  bool looking_ = false;              // at our own; where /proc hangs, looks must not pile up
  bool searching_ = false;            // for what others have lost
  std::shared_ptr<Foreign> foreign_;  // used by the worker alone
  Lifetime lifetime_;
};

}  // namespace corral::daemon
