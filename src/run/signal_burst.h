// Reads the signals that wait in a signalfd, a bounded number at a time: if processes keep dying, there is
// always another one. The rest is read in the next round.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

namespace corral::run {

inline constexpr int kMostSignals = 64;

/// Calls `take` for each signal until it returns false, no signal is left, or the bound is reached.
template <class Take>
void take_signals(int signals, Take take) {
  signalfd_siginfo info{};
  for (int i = 0; i < kMostSignals; ++i) {
    if (read(signals, &info, sizeof info) != sizeof info || !take(info)) return;
  }
}

}  // namespace corral::run
