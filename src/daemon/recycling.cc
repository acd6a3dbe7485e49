#include "daemon/recycling.h"

#include <algorithm>

#include "base/units.h"

namespace corral::daemon {
namespace {

constexpr std::chrono::seconds kMeasureInterval{5};

}  // namespace

Recycling::Recycling(Loop& loop, pool::Pool& pool, Snapshots& snapshots, events::Stream& events)
    : pool_(pool), snapshots_(snapshots), timer_(loop) {
  events.listen(lifetime_.guard([this](const events::Event& event) {
    if (event.kind == events::Kind::Ready) wait();
  }));
}

void Recycling::wait() {
  if (timer_.running() || !needed()) return;
  timer_.start(kMeasureInterval, [this] {
    snapshots_.measure(lifetime_.guard([this](const observe::Snapshot& measured) { check(measured); }));
    wait();
  });
}

bool Recycling::needed() const {
  const auto& slots = pool_.slots();
  return std::any_of(slots.begin(), slots.end(),
                     [](const pool::Slot& slot) { return slot.router() && slot.spec().entry.recycle; });
}

void Recycling::check(const observe::Snapshot& measured) {
  for (const observe::InstanceView& instance : measured.instances) {
    if (!instance.limits.recycle || !instance.usage || instance.usage->memory <= *instance.limits.recycle)
      continue;
    pool_.recycle(InstanceId(instance.id),
                  "instance " + instance.id.substr(0, 8) + " of server " + instance.server + " uses " +
                      show_size(*instance.usage->memory) + ", more than \"recycle\" (" +
                      show_size(*instance.limits.recycle) + "): it is replaced after its calls");
  }
}

}  // namespace corral::daemon
