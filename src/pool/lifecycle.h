// The life of one slot: for every state and every trigger, what comes next. Pure; a table, so that no pair
// can be forgotten. pool/slot.cc carries it out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corral::pool {

enum class Life : std::uint8_t {
  Empty,       // no process, and nobody needs one
  Starting,    // those who asked wait
  Failing,     // it did not open: its tree goes, then those who asked hear why
  Ready,       //
  Draining,    // it shall go, and its calls in flight have their time
  Ending,      // it goes because we want it to
  Dying,       // it goes because it died, or hangs
  Waiting,     // for its next start, after it died
  Restarting,  //
  Broken,      // it died too often
};
inline constexpr std::size_t kLives = 10;

enum class Trigger : std::uint8_t {
  Asked,         // a session needs an instance
  Opened,        // the handshake went well
  Unfit,         // the handshake went wrong
  Lost,          // it will say no more
  Gone,          // its tree is gone
  GoneTooOften,  // its tree is gone, as were too many before it
  DelayOver,     // the time between two starts
  Unused,        // nobody needs it: idle, evicted, or its only session has left
  Hung,          // it lives and does not answer
  Retired,       // another one replaces it, or none
  Drained,       // no call is in flight any more, or their time is up
  Rested,        // what was broken may be tried again
};
inline constexpr std::size_t kTriggers = 12;

enum class Step : std::uint8_t {
  None,
  Start,   // an instance
  Attach,  // those who wait, to the instance that is ready
  Refuse,  // those who wait, with the reason
  Drain,   // give calls in flight their time
  End,     // the instance, politely
  Kill,    // the instance, which would not listen
  Delay,   // the next start
  Revive,  // start again if somebody waits; otherwise the slot is not needed
};

struct Next {
  Life life;
  Step step;
};

/// A pair that the table lacks does not compile.
Next next(Life life, Trigger trigger);

const char* life_name(Life life);

/// Whether the instance is on its way out.
inline bool is_ending(Life life) {
  return life == Life::Ending || life == Life::Failing || life == Life::Dying;
}

}  // namespace corral::pool
