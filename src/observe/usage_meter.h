// What the trees of instances use, and where their clients are, looked up on a thread of its own. Belongs to
// the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/worker.h"
#include "observe/snapshot.h"

namespace corral::observe {

struct ClientProcess {
  std::string command;  // one line, without secrets
  std::string root;     // its working directory
};

struct Usage {
  std::map<pid_t, observe::UsageView> trees;  // by keeper
  std::map<pid_t, ClientProcess> clients;     // by pid
};

/// How many cores each tree has used since the last look at it.
class CpuRates {
 public:
  /// `cpu` is what each tree has ever used, at this time. What was looked at a moment ago keeps its rate.
  void compare(Usage& usage, const std::map<pid_t, std::chrono::milliseconds>& cpu, Clock::time_point now);

 private:
  struct Before {
    std::chrono::milliseconds cpu{0};
    Clock::time_point at;
  };
  std::map<pid_t, Before> before_;  // by keeper
};

class UsageMeter {
 public:
  UsageMeter(Loop& loop, Worker& worker) : loop_(loop), worker_(worker) {}

  using Measured = std::function<void(const Usage&)>;
  /// Called later, on the loop; not after the meter is gone.
  void measure(std::vector<pid_t> keepers, std::vector<pid_t> clients, Measured measured);

 private:
  struct Wish {
    std::vector<pid_t> keepers;
    std::vector<pid_t> clients;
    std::vector<Measured> measured;
  };

  void begin(Wish wish);

  Loop& loop_;
  Worker& worker_;
  CpuRates rates_;
  bool looking_ = false;
  std::optional<Wish> next_;  // what was asked meanwhile, all of it in one
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::observe
