// Durations, sizes and shares as people write them on a command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace corral {

/// "500ms", "2s", "1.5s", "1m", "1h". A number without a unit is refused: 2 what?
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The same for how old something is: also "3d", and as long as you like.
Result<std::chrono::milliseconds> parse_age(std::string_view text);

/// "512M", "2G", "1.5G", "65536". Units are powers of 1024; "MB" and "MiB" mean the same as "M".
Result<std::uint64_t> parse_size(std::string_view text);

/// Processor time in thousandths of a core: "0.5", "2", "150%".
Result<std::uint32_t> parse_cores(std::string_view text);

/// For people, two units at most: "850ms" is "0s", then "12s", "4m 10s", "3h 5m", "2d 4h".
std::string show_age(std::chrono::milliseconds age);

/// "812 B", "3.4 KB", "81 MB", "1.2 GB"; powers of 1024.
std::string show_size(std::uint64_t bytes);

}  // namespace corral
