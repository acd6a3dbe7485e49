// N: how many copies of one server a client may hold. The same number for all commands and for the daemon.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"

namespace corral::cli {

/// The value of --keep, or `corral.keep` of the configuration, or MAX_KEEP_PROCESSES, or 9, in this order.
/// Only
/// --keep may be 0. A configuration that cannot be read is ignored; an invalid MAX_KEEP_PROCESSES is an
/// error.
Result<std::size_t> keep_count(const std::optional<std::size_t>& given);

}  // namespace corral::cli
