// The state of `corral watch` between two surveys: what was already reported, and which orphans were there
// before. Pure: it gets each survey and returns what to report and what to end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reap/selection.h"
#include "survey/findings.h"

namespace corral::reap {

/// What the daemon ends without being asked, with N from its configuration. N = 0 only concerns the daemon's
/// own idle instances: no server that a client uses is ended because of it.
Selectors unasked(std::size_t keep);

class LeakWatch {
 public:
  LeakWatch(Selectors selectors, survey::Asker asker)
      : selectors_(std::move(selectors)), asker_(std::move(asker)) {
    asker_.asked = false;  // the user has not seen what this survey finds
  }

  struct Step {
    /// Findings with at least one server that was not in a finding of that kind before.
    std::vector<survey::Finding> news;
    Selection selection;  // to be ended, if the user enabled that
  };

  /// Call with each new survey, in order.
  Step look(const survey::Survey& survey);

 private:
  Selectors selectors_;
  survey::Asker asker_;
  std::set<std::string> told_;            // kind of the finding and identity of the server
  std::set<std::string> orphans_before_;  // identities
};

}  // namespace corral::reap
