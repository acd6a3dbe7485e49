// Ends the processes that the client leaves behind. First comes a pause without any signal, for processes
// that exit by themselves because the client did: they are not leaks. Then SIGTERM, a grace, and SIGKILL
// until wait returns ECHILD.
#pragma once

#include <string>
#include <vector>

#include "guard/process_view.h"
#include "guard/selection.h"
#include "guard/signals.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::guard {

/// Not the mark of a keeper: a process that guard was told to keep must not look like a server that corral
/// has lost.
inline constexpr const char* kGuardVariable = "CORRAL_GUARD";

struct Graces {
  keeper::Micros settling{500'000};    // to exit without a signal
  keeper::Micros sessions{3'500'000};  // the same for sessions of `corral run`, which have their own graces
  keeper::Micros term{1'500'000};
  keeper::Micros kill{2'000'000};
};

struct Leftover {
  ProcessView process;
  Description description;
};

/// Used on one thread. `signals` and `report` must outlive it. Large: keep it in static memory.
class Leftovers {
 public:
  Leftovers(const Graces& graces, std::vector<std::string> keep, GuardSignals& signals,
            keeper::Report& report);

  /// Call before the client starts. True if children exist already, from a shell that became guard by exec.
  /// Then only processes with the mark of this guard are signalled, so the client must be started with it.
  bool spare_present_children();

  /// Call when a child was reaped elsewhere, because its pid may be reused.
  void forget(pid_t pid) { sweep_.forget_spared(pid); }

  /// Call when the client has been reaped. Blocks, and fills the report.
  void end();

  /// The processes that had to be signalled, and those that were kept.
  const std::vector<Leftover>& left() const { return left_; }
  const std::vector<Leftover>& kept() const { return kept_; }

 private:
  bool reap() { return sweep_.reap(0, keeper::Sweep::Record::Everybody); }
  bool wait_for_leaving(keeper::Micros at_most);
  bool end_all(keeper::Micros term_grace);
  void write_down();
  void write_down_kept();
  void pause_for_a_death();

  Graces graces_;
  Selection selection_;
  GuardSignals& signals_;
  keeper::Report& report_;
  keeper::Sweep sweep_;
  bool marked_ = false;
  bool in_haste_ = false;  // guard itself was told to exit
  std::vector<Leftover> left_;
  std::vector<Leftover> kept_;
};

}  // namespace corral::guard
