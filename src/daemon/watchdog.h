// Checks periodically whether registry, /proc and keepers agree, and repairs or reports differences. If
// configured, also finds servers that other programs have left behind. Reports entries of clients' files that
// were adopted and have changed since. Must be used on the loop's thread; the checks run on the worker thread
// of the records.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "adopt/drift_watch.h"
#include "base/lifetime.h"
#include "base/loop.h"
#include "daemon/hub.h"
#include "reap/agreement.h"

namespace corral::daemon {

class Watchdog {
 public:
  /// Both must outlive this object.
  Watchdog(Loop& loop, Hub& hub);
  ~Watchdog();

  /// Starts the periodic checks. The interval is read before each check, because the configuration may
  /// change.
  void start();

 private:
  struct Foreign;

  void wait();
  void look();
  void look_at_own();
  void handle(std::vector<reap::Disagreement> now);
  void repair(const reap::Disagreement& found);
  void look_at_foreign();
  void look_at_adopted();

  Hub& hub_;
  Records& records_;
  Timer timer_;
  std::vector<reap::Disagreement> before_;
  std::set<std::string> told_;
  std::set<std::string> repairing_;   // instances
  bool looking_ = false;              // at the daemon's instances; if /proc hangs, checks must not pile up
  bool searching_ = false;            // for servers that other programs have left behind
  std::shared_ptr<Foreign> foreign_;  // used only by the worker
  bool reading_files_ = false;        // of clients; they may be on a disk that hangs
  std::shared_ptr<adopt::DriftWatch> adopted_;  // used only by the worker
  Lifetime lifetime_;
};

}  // namespace corral::daemon
