// What `corral reap` says about servers that it leaves alone, and its advice at the end, chosen by what it
// saw.
#pragma once

#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {

/// Why a server that was found is not chosen. `leaky` are those that would be chosen without any filter.
std::string why_kept(const survey::Server& server, bool leaky, const reap::Selectors& selectors);

/// `ended` is empty after a dry run.
void show_tips(Page& page, const survey::Survey& survey, const reap::Selectors& selectors,
               const std::vector<reap::Group>& groups, const std::vector<reap::EndedTree>& ended);

}  // namespace corral::cli
