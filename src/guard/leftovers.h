// What the client leaves behind, and its end. First a moment without any signal, for those who leave by
// themselves because the client did: they are no leak. Then SIGTERM, a grace, and SIGKILL until wait says
// ECHILD.
#pragma once

#include <string>
#include <vector>

#include "guard/process_view.h"
#include "guard/selection.h"
#include "guard/signals.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::guard {

/// Not the mark of a keeper: what guard is told to keep must not look like a server that corral has lost.
inline constexpr const char* kGuardVariable = "CORRAL_GUARD";

struct Graces {
  keeper::Micros settling{500'000};    // to leave without being asked
  keeper::Micros sessions{3'500'000};  // the same for sessions of `corral run`: their own graces, and some
  keeper::Micros term{1'500'000};
  keeper::Micros kill{2'000'000};
};

struct Leftover {
  ProcessView process;
  Description description;
};

class Leftovers {
 public:
  Leftovers(const Graces& graces, std::vector<std::string> keep, Signals& signals, keeper::Report& report);

  /// Call it before the client starts. True if there are any, from a shell that became us by exec: then only
  /// processes with the mark of this guard will be touched, and the client must be given it.
  bool spare_present_children();

  /// A child that was reaped elsewhere: its number may go to somebody else.
  void forget(pid_t pid) { sweep_.forget_spared(pid); }

  /// Call it when the client has been reaped. Fills the report.
  void end();

  /// Who had to be asked to leave, and who was kept.
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
  Signals& signals_;
  keeper::Report& report_;
  keeper::Sweep sweep_;
  bool marked_ = false;
  bool in_haste_ = false;  // somebody wants us gone
  std::vector<Leftover> left_;
  std::vector<Leftover> kept_;
};

}  // namespace corral::guard
