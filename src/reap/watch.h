// The memory of `corral watch` between two looks: what was reported already, and which orphans were there
// before. Pure: it is given each survey and says what to tell and whom to end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reap/selection.h"
#include "survey/findings.h"

namespace corral::reap {

class Watch {
 public:
  Watch(Selectors selectors, Untouchable untouchable)
      : selectors_(std::move(selectors)), untouchable_(std::move(untouchable)) {}

  struct Step {
    std::vector<survey::Finding>
        news;             // findings with at least one server that was not in one of its kind before
    Selection selection;  // to be ended, if that was asked for
  };

  Step look(const survey::Survey& survey);

 private:
  Selectors selectors_;
  Untouchable untouchable_;
  std::set<std::string> told_;            // kind and identity of a server
  std::set<std::string> orphans_before_;  // identities
};

}  // namespace corral::reap
