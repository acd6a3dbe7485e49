// Measures what the process trees of instances use, and finds the working directories of their clients. The
// measurement runs on a worker; the methods must be called on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
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

/// Computes how many cores each tree has used since its previous measurement.
class CpuRates {
 public:
  /// `cpu` is the total CPU time of each tree at time `now`. A tree that was measured a moment ago keeps its
  /// rate.
  void compare(Usage& usage, const std::map<pid_t, std::chrono::milliseconds>& cpu, Clock::time_point now);

 private:
  struct Before {
    std::chrono::milliseconds cpu{0};
    Clock::time_point at;
  };
  std::map<pid_t, Before> before_;  // by keeper
};

/// `loop` and `worker` must outlive the meter.
class UsageMeter {
 public:
  UsageMeter(Loop& loop, Worker& worker) : loop_(loop), worker_(worker) {}

  using Measured = std::function<void(const Usage&)>;
  /// `measured` is called later, on the loop; never after the meter is destroyed. Requests that arrive during
  /// a measurement are combined.
  void measure(std::vector<pid_t> keepers, std::vector<pid_t> clients, Measured measured);

 private:
  struct Request {
    std::vector<pid_t> keepers;
    std::vector<pid_t> clients;
    std::vector<Measured> measured;
  };

  void begin(Request request);

  Loop& loop_;
  Worker& worker_;
  CpuRates rates_;
  bool looking_ = false;
  std::optional<Request> next_;  // requests that arrived during the current measurement, combined
  Lifetime lifetime_;
};

}  // namespace corral::observe
