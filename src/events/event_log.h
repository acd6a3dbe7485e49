// Writes the event stream to the daemon's log: one line per event, as text for people or as JSON for programs
// that collect logs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "events/event.h"

namespace corral::events {

/// What the lines of the log look like.
enum class LogForm : std::uint8_t { Auto, Text, Json };
/// Parses "auto", "text", "json", the values of --log; nothing for any other word.
std::optional<LogForm> log_form_called(std::string_view name);

/// Applies to the whole process from now on. Auto: for people on a terminal, otherwise JSON. Call before
/// other threads log.
void set_log_form(LogForm form);

/// "14:03:07 sentence", in local time: what a person at the terminal of the daemon reads.
std::string people_log_line(const LogEntry& entry);

/// {"time":"…","level":"info","version":"…","pid":1,"text":"…"} and the entry's members.
std::string json_log_line(const LogEntry& entry);

/// Writes one line; a listener of the stream. Skips the events of every single session (attach, detach),
/// because users read the log.
void write_to_log(const Event& event);

}  // namespace corral::events
