// One server has one log level, its sessions want several. The server is told the most talkative one, and
// each session gets what it asked for. Pure.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "base/id.h"
#include "wire/log_level.h"

namespace corral::router {

using wire::LogLevel;
using wire::name_of;
using wire::parse_log_level;

class LogLevels {
 public:
  /// Each of these gives the level to tell the server, if it changes. A session that never said anything
  /// counts as one that wants what servers say by default.
  std::optional<LogLevel> attach(SessionId session);
  std::optional<LogLevel> set(SessionId session, LogLevel level);
  std::optional<LogLevel> drop(SessionId session);

  /// A session that never said anything gets what a server says by default, also when another one lowered it.
  bool wants(SessionId session, LogLevel level) const;

 private:
  std::optional<LogLevel> changed();

  std::map<SessionId, std::optional<LogLevel>> wanted_;
  std::optional<LogLevel> told_;
};

}  // namespace corral::router
