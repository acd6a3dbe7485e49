// Decides how a session ends: when to wait, when to ask, when to insist. Pure: it knows no process and no
// clock, so every pair of state and event is tested without either. The keeper carries out what it answers.
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
  Micros stdin_closed{2'000'000};  // for a polite server to leave after its input ended
  Micros term{1'500'000};          // between SIGTERM and SIGKILL
  Micros nested{5'000'000};        // for keepers below us, which end trees of their own
  Micros kill{2'000'000};          // for the kernel to finish, then we report what it could not
  Micros hasty{500'000};           // the short form, where nobody is left to wait for us
  Micros unread_cap{60'000'000};   // how long unread input may hold up the end
};

class Ending {
 public:
  enum class Phase : std::uint8_t { Open, Draining, Terminating, Yielding, Killing, GaveUp };
  enum class Action : std::uint8_t { None, Terminate, Yield, Kill, GiveUp };
  /// Whether another corral lives inside the tree.
  enum class Below : std::uint8_t { Nobody, Keepers };

  explicit Ending(const Graces& graces) : graces_(graces) {}

  /// No more input will come; what came before may still be answered.
  Action stdin_closed(Micros now);
  /// The client is gone, so no answer can reach it: a short grace, so that a polite server can save its
  /// state.
  Action client_gone(Reason reason, Micros now);
  /// Somebody wants the end now. A second demand shortens what is left.
  Action demanded(Reason reason, Micros now);
  /// Nobody above the keeper is left.
  Action owner_gone(Micros now);
  /// The main process left; what it started gets a short grace of its own.
  Action server_exited(Micros now);
  /// `unread_input`: the server has not read everything yet that the client sent before it closed.
  /// `below`: asked for only if `wants_below` says so.
  Action tick(Micros now, bool unread_input, Below below = Below::Nobody);
  /// Whether it matters at this moment who lives below: finding out takes a while.
  bool wants_below(Micros now) const {
    return phase_ == Phase::Yielding || (phase_ == Phase::Terminating && now >= deadline_);
  }

  Phase phase() const { return phase_; }
  Reason reason() const { return reason_; }
  Micros began() const { return began_; }
  /// When `tick` is due at the latest; nothing = no clock is running.
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
