// Checks from time to time whether registry, /proc and keepers agree, and repairs or reports what does not.
// If the configuration asks for it, also finds servers that other programs have left behind. Belongs to the
// loop thread; the looking is done on the worker thread of the records.
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
  bool looking_ = false;              // at our own instances; where /proc hangs, looks must not pile up
  bool searching_ = false;            // for servers that other programs have left behind
  std::shared_ptr<Foreign> foreign_;  // used only by the worker
  Lifetime lifetime_;
};

}  // namespace corral::daemon
