#include "events/event_log.h"

#include <unistd.h>

#include <ctime>

#include "base/text.h"
#include "base/utc_time.h"
#include "version.h"
#include "wire/json_writer.h"

namespace corral::events {
namespace {

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Info: return "info";
    case LogLevel::Warn: return "warn";
    case LogLevel::Error: return "error";
  }
  return "info";
}

LogLevel level_of(Kind kind) {
  switch (kind) {
    case Kind::Survivor:
    case Kind::Broken: return LogLevel::Error;
    case Kind::Crash:
    case Kind::Failed:
    case Kind::Stale:
    case Kind::Refused:
    case Kind::Finding:
    case Kind::Registry:
    case Kind::Drift:
    case Kind::SlowTurn: return LogLevel::Warn;
    default: return LogLevel::Info;
  }
}

}  // namespace

std::optional<LogForm> log_form_called(std::string_view name) {
  if (name == "auto") return LogForm::Auto;
  if (name == "text") return LogForm::Text;
  if (name == "json") return LogForm::Json;
  return std::nullopt;
}

void set_log_form(LogForm form) {
  if (form == LogForm::Text) return set_log_look(nullptr);
  const bool people = form == LogForm::Auto && isatty(STDERR_FILENO) == 1;
  set_log_look(people ? people_log_line : json_log_line);
}

std::string people_log_line(const LogEntry& entry) {
  const auto seconds = static_cast<time_t>(entry.time_ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char time[16] = "";
  std::strftime(time, sizeof time, "%H:%M:%S ", &local);
  return time + printable(entry.text);
}

std::string json_log_line(const LogEntry& entry) {
  return wire::JsonObject()
      .text("time", show_utc(entry.time_ms))
      .text("level", level_name(entry.level))
      .text("version", kVersion)
      .number("pid", getpid())
      .members(entry.members)
      .text("text", entry.text)
      .json();
}

void write_to_log(const Event& event) {
  if (event.kind == Kind::Attach || event.kind == Kind::Detach) return;
  wire::JsonObject json;
  json.number("event", event.number).members(members_of(event));
  if (event.pid != 0) json.number("process", event.pid);  // `pid` is the daemon's
  const std::string members = json.bare();
  std::string text = event.text;
  // A line of the log is short; the event itself has more lines.
  if (!event.error_lines.empty()) text += "; its stderr ended with: " + event.error_lines.back();
  log_entry({level_of(event.kind), text, members, event.time_ms});
}

}  // namespace corral::events
