// One life and death of the crashing_daemon, under the real janitor and with real keepers.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "reap/remnants.h"
#include "registry/registry.h"

namespace corral::os_tests {

/// The graces that these tests can afford.
reap::RemnantRules hasty_rules();

class CrashedDaemon {
 public:
  struct Blow {
    int call = 0;  // of the registry: 1 begin, 2 about to start, 3 runs, 4 its tree stands, 5 ended, 6 end
    bool before = false;
    std::string victims;  // letters of "d" daemon, "j" janitor, "k" keepers
  };

  /// Starts it. `records` is the file that its registry is.
  CrashedDaemon(std::string records, const std::string& tag, const std::string& level, const Blow& blow,
                const std::vector<std::string>& server);
  /// What is left of it ends, too.
  ~CrashedDaemon();
  CrashedDaemon(const CrashedDaemon&) = delete;
  CrashedDaemon& operator=(const CrashedDaemon&) = delete;

  /// Until the janitor, which is our child, is gone.
  bool wait_for_janitor();
  pid_t janitor() const { return janitor_; }

  std::vector<registry::Unfinished> unfinished() const;
  /// As the next daemon does it. True if nothing can be left.
  bool reconcile() const;

 private:
  std::string records_;
  pid_t janitor_ = -1;
};

}  // namespace corral::os_tests
