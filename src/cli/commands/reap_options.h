// The selectors of `corral reap` and `corral watch`, and N, the number of copies that a client may hold.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"
#include "reap/end_trees.h"
#include "reap/selection.h"

namespace corral::cli {

/// Each of these options marks the selection as explicit. `selectors` and `keep` must outlive the command.
/// `keep` gets the value of --keep; `keep_count` has the defaults.
std::vector<Option> selector_options(reap::Selectors& selectors, std::optional<std::size_t>& keep);

/// Why a process was not ended, and what to do: "belongs to another user: run corral as that user".
std::string explain(const reap::Outcome& outcome);

/// The selectors as options of a command line: " --orphans --match files".
std::string typed(const reap::Selectors& selectors);

/// "SIGTERM" or "SIGKILL"
const char* signal_name(int signo);

/// N: the value of --keep, or `corral.keep` of the configuration, or MAX_KEEP_PROCESSES, or 9, in this order.
/// The same for all commands and for the daemon. Only --keep may be 0. A configuration that cannot be read is
/// ignored; an invalid MAX_KEEP_PROCESSES is an error.
Result<std::size_t> keep_count(const std::optional<std::size_t>& given);

}  // namespace corral::cli
