// The life cycle of a slot: a table that gives the next state and the next step for every pair of state and
// trigger. Pure; a missing pair does not compile. pool/slot.cc carries the steps out.
//
// Only `Slot::apply` asks the table, once for each trigger. It stores the next state before it carries out
// the step, because a step may apply the next trigger before it returns: a session that is told something
// asks again, or leaves. So a slot is always in a state of this table while anything outside it runs. The
// table knows neither time nor sessions: `Slot` turns a death too many into `DiedTooOften`, and a delay that
// nobody waits for into `Unused`. Only a slot that is Empty may be destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corral::pool {

enum class Life : std::uint8_t {
  Empty,       // there is no instance, and nobody needs one
  Starting,    // sessions wait for the handshake
  Failing,     // the first handshake failed: the tree ends, then the sessions that wait are told why
  Ready,       // sessions may attach
  Draining,    // it is to be ended, and its calls in flight still have time
  Ending,      // corral is ending it
  Dying,       // it died or hung, and its tree is not gone yet
  Waiting,     // for the next start, after an instance died
  Restarting,  // as Starting, after an instance died
  Broken,      // its instances died too often
};
inline constexpr std::size_t kLives = 10;

enum class Trigger : std::uint8_t {
  Asked,         // a session needs an instance
  Opened,        // the handshake succeeded
  Unfit,         // the handshake failed
  Lost,          // the server sends nothing more
  Ended,         // its process tree is gone
  DiedTooOften,  // likewise, and too many instances have died in a row
  DelayOver,     // the time between two starts is over
  Unused,        // nobody needs it: idle, evicted, or its only session has left
  Hung,          // it runs and does not answer
  Retired,       // another one replaces it, or none
  Drained,       // its calls in flight are answered, or their time is over
  Rested,        // a broken slot may try again
};
inline constexpr std::size_t kTriggers = 12;

enum class Step : std::uint8_t {
  None,
  Start,   // an instance
  Attach,  // the sessions that wait, to the instance
  Refuse,  // the sessions that wait, and tell them why
  Drain,   // wait for the calls in flight
  End,     // the instance, politely
  Kill,    // the instance, at once
  Delay,   // the next start, for some time
  Revive,  // start again if a session waits; otherwise give the slot up
};

struct Next {
  Life life;
  Step step;
};

/// Every pair has exactly one row in the table; a static_assert proves it.
Next next(Life life, Trigger trigger);

const char* life_name(Life life);

/// Whether there is an instance that is ending.
inline bool is_ending(Life life) {
  return life == Life::Ending || life == Life::Failing || life == Life::Dying;
}

}  // namespace corral::pool
