// Signals that wait in a signalfd, a bounded number at a time. Somebody may die all the time, so that there
// is always another one: what is left over is for the next turn.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

namespace corral::run {

inline constexpr int kMostSignals = 64;

/// Until `take` returns false, nothing is left, or there were that many.
template <class Take>
void take_signals(int signals, Take take) {
  signalfd_siginfo info{};
  for (int i = 0; i < kMostSignals; ++i) {
    if (read(signals, &info, sizeof info) != sizeof info || !take(info)) return;
  }
}

}  // namespace corral::run
