// The memory of `corral watch` between two looks: what was reported already, and which orphans were there
// before. Pure: it is given each survey and says what to tell and whom to end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reap/selection.h"
#include "survey/findings.h"

namespace corral::reap {

/// What the daemon ends by itself, with N from its configuration. N of 0 speaks of its own idle instances:
/// nothing that a client uses is ended for it, for nobody has asked for that.
Selectors unasked(std::size_t keep);

class Watch {
 public:
  Watch(Selectors selectors, survey::Asker asker)
      : selectors_(std::move(selectors)), asker_(std::move(asker)) {
    asker_.asked = false;  // whoever switched it on has not seen what it finds now
  }

  struct Step {
    std::vector<survey::Finding>
        news;             // findings with at least one server that was not in one of its kind before
    Selection selection;  // to be ended, if that was asked for
  };

  Step look(const survey::Survey& survey);

 private:
  Selectors selectors_;
  survey::Asker asker_;
  std::set<std::string> told_;            // kind and identity of a server
  std::set<std::string> orphans_before_;  // identities
};

}  // namespace corral::reap
