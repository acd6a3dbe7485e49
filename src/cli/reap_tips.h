// Advice at the end of `corral reap`, chosen by what it saw.
#pragma once

#include <vector>

#include "cli/page.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {

/// `ended` is empty after a dry run.
void show_tips(Page& page, const survey::Survey& survey, const reap::Selectors& selectors,
               const std::vector<reap::Group>& groups, const std::vector<reap::EndedTree>& ended);

}  // namespace corral::cli
