#include "router/log_levels.h"

#include <algorithm>

namespace corral::router {
namespace {

constexpr LogLevel kDefault = LogLevel::Info;

}  // namespace

std::optional<LogLevel> LogLevels::attach(const SessionPort* port) {
  wanted_.emplace(port, std::nullopt);
  return changed();
}

std::optional<LogLevel> LogLevels::set(const SessionPort* port, LogLevel level) {
  wanted_[port] = level;
  return changed();
}

std::optional<LogLevel> LogLevels::drop(const SessionPort* port) {
  wanted_.erase(port);
  return changed();
}

bool LogLevels::wants(const SessionPort* port, LogLevel level) const {
  const auto found = wanted_.find(port);
  if (found != wanted_.end() && found->second) return level >= *found->second;
  return !told_ || level >= kDefault;
}

/// Until somebody says something, the server is left as it is.
std::optional<LogLevel> LogLevels::changed() {
  LogLevel lowest = wanted_.empty() ? kDefault : LogLevel::Emergency;
  bool spoken = told_.has_value();
  for (const auto& [port, level] : wanted_) {
    lowest = std::min(lowest, level.value_or(kDefault));
    spoken = spoken || level.has_value();
  }
  if (!spoken || told_ == lowest) return std::nullopt;
  told_ = lowest;
  return told_;
}

}  // namespace corral::router
