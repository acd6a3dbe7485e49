// Which processes below us are not to be ended: those that --keep names, with everything below them, and for
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

/// All living processes below us, parents before their children.
std::vector<ProcessView> everything_below_us();

/// A keeper, or a `corral run` above one: told by its client's death to end its tree, which takes a moment.
/// The names can be pretended, which gains a process that moment and nothing else.
bool ends_by_itself(pid_t pid);

class Selection {
 public:
  /// Shell patterns, for the whole command line or for the base name of its first word.
  explicit Selection(std::vector<std::string> keep) : keep_(std::move(keep)) {}

  bool has_patterns() const { return !keep_.empty(); }
  bool kept(const ProcessView& process);

  /// Looks who is below a kept process: should that one leave, its children come to us and are still kept.
  void look_again(const std::vector<ProcessView>& below);

  bool spare_sessions = false;

  /// For keeper::Sweep: asked with a child that has not been reaped.
  bool spares(pid_t child);

 private:
  bool matches(pid_t pid) const;

  std::vector<std::string> keep_;
  std::map<pid_t, std::uint64_t> kept_;  // with the start, since numbers come again
  keeper::Micros looked_{0};
};

}  // namespace corral::guard
