#include "router/log_levels.h"

#include <algorithm>
#include <array>

namespace corral::router {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"debug", "info",     "notice", "warning",
                                                    "error", "critical", "alert",  "emergency"};

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kNames.begin());
}

std::string_view name_of(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> LogLevels::set(const SessionPort* port, LogLevel level) {
  wanted_[port] = level;
  return changed();
}

std::optional<LogLevel> LogLevels::drop(const SessionPort* port) {
  if (wanted_.erase(port) == 0 || wanted_.empty()) return std::nullopt;
  return changed();
}

bool LogLevels::wants(const SessionPort* port, LogLevel level) const {
  const auto found = wanted_.find(port);
  if (found != wanted_.end()) return level >= found->second;
  return !told_ || level >= LogLevel::Info;
}

std::optional<LogLevel> LogLevels::changed() {
  const auto lowest = std::min_element(wanted_.begin(), wanted_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (lowest == wanted_.end() || told_ == lowest->second) return std::nullopt;
  told_ = lowest->second;
  return told_;
}

}  // namespace corral::router
