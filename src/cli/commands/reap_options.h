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

/// Each of these options marks the selection as explicit. `selectors` and `keep` must outlive the command.
/// `keep` gets the value of --keep; keep_count.h has the defaults.
std::vector<Option> selector_options(reap::Selectors& selectors, std::optional<std::size_t>& keep);

/// Why a process was not ended, and what to do: "belongs to another user: run corral as that user".
std::string explain(const reap::Outcome& outcome);

/// The selectors as options of a command line: " --orphans --match files".
std::string typed(const reap::Selectors& selectors);

/// "SIGTERM" or "SIGKILL"
const char* signal_name(int signo);

}  // namespace corral::cli
