// A server has one log level, and its sessions may want different ones. The server gets the lowest of them,
// and each session gets the messages that it asked for. Pure.
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
  /// Each of these returns the level that the server must be told, if it has changed. A session that never
  /// set a level counts as one that wants the default level of servers.
  std::optional<LogLevel> attach(SessionId session);
  std::optional<LogLevel> set(SessionId session, LogLevel level);
  std::optional<LogLevel> drop(SessionId session);

  /// A session that never set a level gets what servers send by default, even if another session lowered the
  /// level.
  bool wants(SessionId session, LogLevel level) const;

 private:
  std::optional<LogLevel> changed();

  std::map<SessionId, std::optional<LogLevel>> wanted_;
  std::optional<LogLevel> told_;
};

}  // namespace corral::router
