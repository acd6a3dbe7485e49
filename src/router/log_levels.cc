#include "router/log_levels.h"

#include <algorithm>

namespace corral::router {
namespace {

constexpr LogLevel kDefault = LogLevel::Info;

}  // namespace

std::optional<LogLevel> LogLevels::attach(SessionId session) {
  wanted_.emplace(session, std::nullopt);
  return changed();
}

std::optional<LogLevel> LogLevels::set(SessionId session, LogLevel level) {
  wanted_[session] = level;
  return changed();
}

std::optional<LogLevel> LogLevels::drop(SessionId session) {
  wanted_.erase(session);
  return changed();
}

bool LogLevels::wants(SessionId session, LogLevel level) const {
  const auto found = wanted_.find(session);
  if (found != wanted_.end() && found->second) return level >= *found->second;
  return !told_ || level >= kDefault;
}

/// Until a session sets a level, the server keeps its own.
std::optional<LogLevel> LogLevels::changed() {
  LogLevel lowest = wanted_.empty() ? kDefault : LogLevel::Emergency;
  bool any_set = told_.has_value();
  for (const auto& [session, level] : wanted_) {
    lowest = std::min(lowest, level.value_or(kDefault));
    any_set = any_set || level.has_value();
  }
  if (!any_set || told_ == lowest) return std::nullopt;
  told_ = lowest;
  return told_;
}

}  // namespace corral::router
