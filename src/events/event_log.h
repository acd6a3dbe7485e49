// The event stream as the daemon's log: one line each, for people or for machines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "events/event.h"

namespace corral::events {

enum class LogForm : std::uint8_t { Auto, Text, Json };
/// "auto", "text", "json".
std::optional<LogForm> log_form_called(std::string_view name);

/// From now on, for the whole process. Auto: text on a terminal, else JSON.
void set_log_form(LogForm form);

/// {"time":"…","level":"info","version":"…","pid":1,"text":"…"} and what the entry is about.
std::string json_log_line(const LogEntry& entry);

/// Nothing for those that come and go with every session: a log is read by people.
void write_to_log(const Event& event);

}  // namespace corral::events
