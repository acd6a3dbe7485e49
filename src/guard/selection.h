// Which processes below guard must not be ended: those that match --keep, with everything below them, and for
// a while the sessions of `corral run`, which end by themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "guard/process_view.h"
#include "keeper/kernel.h"

namespace corral::guard {

/// All running processes below guard, parents before their children.
std::vector<ProcessView> everything_below_us();

/// True for a keeper, or a `corral run` above one: it ends its tree after the death of its client, which
/// takes a moment. A process can fake the names, but gains only that moment.
bool ends_by_itself(pid_t pid);

class Selection {
 public:
  /// Shell patterns that are matched with the whole command line and with the base name of its first word.
  explicit Selection(std::vector<std::string> keep) : keep_(std::move(keep)) {}

  bool has_patterns() const { return !keep_.empty(); }
  /// Whether --keep applies to this process.
  bool kept(const ProcessView& process);

  /// Records which processes are below a kept process: if that one exits, its children are still kept.
  void look_again(const std::vector<ProcessView>& below);

  /// Whether sessions of `corral run` are spared for now.
  bool spare_sessions = false;

  /// For keeper::Sweep, which calls it with a child that has not been reaped.
  bool spares(pid_t child);

 private:
  bool matches(pid_t pid) const;

  std::vector<std::string> keep_;
  std::map<pid_t, std::uint64_t> kept_;  // with the start time, because pids are reused
  keeper::Micros looked_{0};
};

}  // namespace corral::guard
