// Points in time as text: RFC 3339, UTC, milliseconds.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace corral {

/// Milliseconds since 1970.
std::int64_t unix_time_ms();

/// "2026-11-16T03:40:00.123Z". All results have the same length, so sorting the texts sorts the times.
std::string show_utc(std::int64_t unix_ms);
/// Without the fraction: "2026-11-16T03:40:00Z".
std::string show_utc_seconds(std::time_t time);
inline constexpr std::size_t kUtcLength = 24;

/// Reads both forms. The fraction and the time of day may be missing, a space may replace the T, and an
/// offset ("+02:00") may replace the Z; without Z and offset the time is UTC.
std::optional<std::int64_t> parse_utc(std::string_view text);

}  // namespace corral
