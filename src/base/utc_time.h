// Moments as text: RFC 3339, UTC, milliseconds.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace corral {

/// Milliseconds since 1970.
std::int64_t unix_time_ms();

/// "2026-11-16T03:40:00.123Z"; as long as every other one, so that texts sort like times.
std::string show_utc(std::int64_t unix_ms);
/// The same without the fraction: "2026-11-16T03:40:00Z".
std::string show_utc_seconds(std::time_t time);
inline constexpr std::size_t kUtcLength = 24;

/// The same back. Also without a fraction, without a time of day, with a blank for the T, and with an offset
/// ("+02:00") for the Z; without either it is UTC.
std::optional<std::int64_t> parse_utc(std::string_view text);

}  // namespace corral
