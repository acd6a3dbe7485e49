#include "pool/code_watch.h"

#include <chrono>
#include <vector>

#include "pool/slots.h"

namespace corral::pool {
namespace {

constexpr std::chrono::seconds kBetweenLooks{30};

}  // namespace

CodeWatch::CodeWatch(Loop& loop, Slots& slots)
    : slots_(slots),
      build_of_([](const instance::Instance& instance) {
        return knowledge::learn_fingerprint(instance.server_pid(), instance.input_inode());
      }),
      timer_(loop) {}

knowledge::Fingerprint CodeWatch::watch(const instance::Instance& instance) {
  if (!timer_.running()) look_later();
  return build_of_(instance);
}

void CodeWatch::look_later() {
  timer_.start(kBetweenLooks, [this] { look(); });
}

void CodeWatch::look() {
  std::vector<Slot*> slots;  // a copy: a slot that is told may add others
  for (Slot& slot : slots_) slots.push_back(&slot);
  for (Slot* const slot : slots) look_at(*slot);
  if (slots_.living() > 0) look_later();
}

void CodeWatch::look_at(Slot& slot) {
  if (slot.life() != Life::Ready || !slot.run().stale().empty()) return;
  if (slot.spec().entry.on_change == config::OnChange::Ignore) return;
  if (const auto changed = knowledge::what_changed(slot.build())) slot.mark_stale(*changed);
}

}  // namespace corral::pool
