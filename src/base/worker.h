// Work that may take long (a walk through /proc, ending processes that are not ours) on a thread of its own,
// one job after the other. What it came to is told on the loop.
#pragma once

#include <functional>
#include <memory>

#include "base/loop.h"

namespace corral {

class Worker {
 public:
  explicit Worker(Loop& loop);
  /// Waits for the job that runs; forgets the rest, and tells nobody.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// `job` runs on the thread, and must not touch what belongs to the loop; then `done` on the loop.
  void run(std::function<void()> job, Task done);
  /// Whether one runs or waits: the end of this object would wait for it.
  bool busy() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace corral
