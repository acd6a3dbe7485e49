// Counts the events of the stream and writes the counters, with the gauges of a snapshot, as Prometheus text.
// docs/operations/observing.md lists the metrics. Must be used on the loop's thread; the records own it, and
// its counters begin at 0 with each daemon.
#pragma once

#include <memory>
#include <string>

#include "events/event.h"
#include "observe/snapshot.h"

namespace corral::observe {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  /// Call once for every event of the stream, in its order.
  void count(const events::Event& event);
  /// Text exposition format 0.0.4, lifecycle metrics first. `snapshot` should be measured: otherwise memory
  /// and CPU are missing.
  std::string text(const Snapshot& snapshot) const;

 private:
  struct Counters;
  std::unique_ptr<Counters> counters_;
};

}  // namespace corral::observe
