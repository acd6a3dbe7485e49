// N: how many copies of one server may be held. The same number for every command and for the daemon.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"

namespace corral::cli {

/// What --keep says, else `corral.keep` of the configuration, else MAX_KEEP_PROCESSES, else 9. Only --keep
/// may say 0. A configuration that cannot be read is not a reason to fail here.
Result<std::size_t> keep_count(const std::optional<std::size_t>& given);

}  // namespace corral::cli
