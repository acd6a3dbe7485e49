// The file that --report names, for `corral run` and `corral guard`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::cli {

/// Appended to, so that many sessions can share one file; not readable by others. "-" is stderr, with a
/// number of `lowest` or above; an empty path is no file. A pipe without a reader is an error, not a wait: it
/// would hold up the start for ever.
Result<UniqueFd> open_report(const std::string& path, int lowest);

}  // namespace corral::cli
