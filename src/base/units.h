// Parses and prints durations, sizes and numbers of cores as users write them on the command line. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace corral {

/// "500ms", "2s", "1.5s", "1m", "1h"; at most 24 hours. A number without a unit is refused because it is
/// ambiguous.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Like parse_duration, for the age of something: also accepts days ("3d") and has no practical upper limit.
Result<std::chrono::milliseconds> parse_age(std::string_view text);

/// "512M", "2G", "1.5G", "65536". Units are powers of 1024; "MB" and "MiB" mean the same as "M".
Result<std::uint64_t> parse_size(std::string_view text);

/// CPU time in thousandths of a core: "0.5", "2", "150%".
Result<std::uint32_t> parse_cores(std::string_view text);

/// At most two units: "12s", "4m 10s", "3h 5m", "2d 4h". Less than a second is "0s".
std::string show_age(std::chrono::milliseconds age);

/// "812 B", "3.4 KB", "81 MB", "1.2 GB"; units are powers of 1024.
std::string show_size(std::uint64_t bytes);

}  // namespace corral
