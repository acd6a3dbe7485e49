// Counts the events of the stream and writes the counters, with the gauges of a snapshot, as Prometheus text.
// Must be used on the loop's thread.
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

  /// Call once for every event.
  void count(const events::Event& event);
  /// Text exposition format 0.0.4, lifecycle metrics first.
  std::string text(const Snapshot& snapshot) const;

 private:
  struct Counters;
  std::unique_ptr<Counters> counters_;
};

}  // namespace corral::observe
