// What `corral reap` prints about servers that it keeps, and its advice at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {

/// Whether a server would be selected without any filter.
enum class Leaked : bool { No, Yes };

/// Why a server is not selected.
std::string why_kept(const survey::Server& server, Leaked leaked, const reap::Selectors& selectors);

/// Prints advice that fits the servers found, selected and ended. `ended` is empty after a dry run.
void show_tips(Page& page, const survey::Survey& survey, const reap::Selectors& selectors,
               const std::vector<reap::Group>& groups, const std::vector<reap::EndedTree>& ended);

}  // namespace corral::cli
