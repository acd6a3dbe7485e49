// Replaces instances whose process tree uses more memory than "recycle" of their server allows. Measures only
// while such an instance runs, so that a daemon without the option is never woken for it. Must be used on the
// loop's thread; the hub owns it.
#pragma once

#include <memory>

#include "base/lifetime.h"
#include "base/loop.h"
#include "daemon/snapshots.h"
#include "events/stream.h"
#include "observe/snapshot.h"
#include "pool/pool.h"

namespace corral::daemon {

class Recycling {
 public:
  /// All arguments must outlive this object. Listens to `events` for instances that have become ready.
  Recycling(Loop& loop, pool::Pool& pool, Snapshots& snapshots, events::Stream& events);

  /// Recycles those that use more memory than their limit. A running call is finished first.
  void check(const observe::Snapshot& measured);

 private:
  void wait();
  bool needed() const;

  pool::Pool& pool_;
  Snapshots& snapshots_;
  Timer timer_;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
