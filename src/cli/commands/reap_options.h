// The selectors that `corral reap` and `corral watch` share.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cli/frame/command.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {

/// Each of them marks the choice as explicit. Both must outlive the command; `keep` is what --keep says, see
/// keep_count.h.
std::vector<Option> selector_options(reap::Selectors& selectors, std::optional<std::size_t>& keep);

/// "3 processes of server.js (pid 12): belongs to root" – what could not be ended, and what to do.
std::string explain(const reap::Outcome& outcome);

/// The selectors as they would be typed: " --orphans --match files".
std::string typed(const reap::Selectors& selectors);

/// "SIGTERM" or "SIGKILL"
const char* signal_name(int signo);

}  // namespace corral::cli
