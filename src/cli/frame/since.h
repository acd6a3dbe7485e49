// --since of `corral events` and `corral logs`: how long ago, or when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/frame/option_values.h"

namespace corral::cli {

/// "10m" before `now`, or "2026-11-16T03:40:00Z": milliseconds since 1970.
Result<std::int64_t> parse_since(std::string_view text, std::int64_t now);

Apply set_since(std::int64_t& since_ms);

}  // namespace corral::cli
