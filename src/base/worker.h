// Runs slow jobs (a walk through /proc, ending foreign processes) on a separate thread, one after another,
// and reports completion on the loop. Call the methods on the loop's thread; the loop must outlive the
// worker.
#pragma once

#include <functional>
#include <memory>

#include "base/loop.h"

namespace corral {

class Worker {
 public:
  explicit Worker(Loop& loop);
  /// Waits for the running job and drops the waiting ones. No `done` runs after this.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `job` on the thread, where it must not touch objects that belong to the loop, and then `done` on
  /// the loop. `done` may destroy the worker.
  void run(std::function<void()> job, Task done);
  /// Whether a job is running or waiting, so that the destructor would block.
  bool busy() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace corral
