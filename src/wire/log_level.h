// The levels of notifications/message, from the most verbose one up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corral::wire {

enum class LogLevel : std::uint8_t { Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency };

inline constexpr std::array<std::string_view, 8> kLogLevels = {"debug", "info",     "notice", "warning",
                                                               "error", "critical", "alert",  "emergency"};

inline std::optional<LogLevel> parse_log_level(std::string_view name) {
  const auto found = std::find(kLogLevels.begin(), kLogLevels.end(), name);
  if (found == kLogLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLogLevels.begin());
}

inline std::string_view name_of(LogLevel level) { return kLogLevels[static_cast<std::size_t>(level)]; }

}  // namespace corral::wire
