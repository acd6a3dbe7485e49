// Decides how a session ends: when to wait, when to send SIGTERM, when to send SIGKILL. Pure: it uses neither
// processes nor a clock, so every pair of state and event can be tested. The keeper carries out the actions
// that the methods return.
//
//   Open ──stdin closed, client gone──► Draining ──grace over──► Terminating ──grace over──► Killing ──►
//   GaveUp
//     └──signal, limit, owner gone, server exited──────────────────▲  └──keepers below──► Yielding ──▲
#pragma once

#include <optional>

#include "keeper/kernel.h"
#include "keeper/report.h"

namespace corral::keeper {

struct Graces {
  Micros stdin_closed{2'000'000};  // for the server to exit after its input has ended
  Micros term{1'500'000};          // between SIGTERM and SIGKILL
  Micros nested{5'000'000};        // for keepers below this one, which end their own trees
  Micros kill{2'000'000};          // for the kernel to finish; then the survivors are reported
  Micros hasty{500'000};           // replaces the others when no client or owner is waiting
  Micros unread_cap{60'000'000};   // how long unread input may delay the end
};

class Ending {
 public:
  enum class Phase : std::uint8_t { Open, Draining, Terminating, Yielding, Killing, GaveUp };
  enum class Action : std::uint8_t { None, Terminate, Yield, Kill, GiveUp };
  /// Whether the server has read everything that the client sent before it closed.
  enum class Input : std::uint8_t { Read, Unread };
  /// Whether another corral runs inside the tree.
  enum class Below : std::uint8_t { Nobody, Keepers };

  explicit Ending(const Graces& graces) : graces_(graces) {}

  /// No more input will come; requests that were already sent may still be answered.
  Action stdin_closed(Micros now);
  /// The client is gone, so no answer can reach it. The server gets a short grace to save its state.
  Action client_gone(Reason reason, Micros now);
  /// The owner or the user demands the end now. A second demand shortens the remaining grace.
  Action demanded(Reason reason, Micros now);
  /// The owner of the keeper is gone.
  Action owner_gone(Micros now);
  /// The main process has exited; the processes it started get a short grace.
  Action server_exited(Micros now);
  /// Advances the state when a deadline has passed. `below` is only used if `wants_below` returned true for
  /// the same `now`.
  Action tick(Micros now, Input input, Below below = Below::Nobody);
  /// Whether the next `tick` needs `below`: finding out takes a while.
  bool wants_below(Micros now) const {
    return phase_ == Phase::Yielding || (phase_ == Phase::Terminating && now >= deadline_);
  }

  Phase phase() const { return phase_; }
  Reason reason() const { return reason_; }
  Micros began() const { return began_; }
  /// The latest time for the next `tick`; empty if no deadline is running.
  std::optional<Micros> deadline() const;

 private:
  void begin(Reason reason, Micros now);
  Action terminate(Micros now, Micros grace);
  Action kill(Micros now);
  void hasten(Micros at_latest);
  bool waiting() const { return phase_ == Phase::Open || phase_ == Phase::Draining; }

  Graces graces_;
  Phase phase_ = Phase::Open;
  Reason reason_ = Reason::NotStarted;
  Micros began_{0};
  Micros deadline_{0};
  Micros unread_until_{0};
  bool in_haste_ = false;
  bool demanded_ = false;
};

}  // namespace corral::keeper
