// The daemon's log: one line per entry on standard error. Every function may be called on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corral {

enum class LogLevel : std::uint8_t { Info, Warn, Error };

/// Writes "[corral v0.1.0] sentence", or what the current LogLook makes of it. The sentence must not contain
/// a value from an environment or an argument: such values may be secrets.
void log_line(std::string_view sentence, LogLevel level = LogLevel::Info);

/// Writes "[corral v0.1.0] sentence" whatever the LogLook: other programs rely on the daemon's first and last
/// line.
void log_as_text(std::string_view sentence);

struct LogEntry {
  LogLevel level = LogLevel::Info;
  std::string_view text;
  std::string_view members{};  // JSON members that describe the subject: `"kind":"spawn","server":"files"`
  std::int64_t time_ms = 0;    // Unix time; 0 = now
};
/// The views in `entry` are only used during the call.
void log_entry(const LogEntry& entry);

/// Formats one entry, whose time is set, without the newline. Null selects the plain text format, which is
/// the default. Set it once at the start, before other threads log.
using LogLook = std::string (*)(const LogEntry& entry);
void set_log_look(LogLook look);

/// The versions of the libraries that write the log.
std::string spdlog_version();
std::string fmt_version();

/// How many lines were dropped because the reader of standard error did not keep up.
std::uint64_t lost_log_lines();

}  // namespace corral
