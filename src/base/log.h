// What the daemon says about itself, one line each, on standard error. Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corral {

enum class LogLevel : std::uint8_t { Info, Warn, Error };

/// "[corral v0.1.0] sentence", or what the look makes of it. Never with a value from an environment or an
/// argument in it: they may be secrets.
void log_line(std::string_view sentence, LogLevel level = LogLevel::Info);

/// Always "[corral v0.1.0] sentence": the first and the last line of a daemon are a promise to others.
void log_as_text(std::string_view sentence);

struct LogEntry {
  LogLevel level = LogLevel::Info;
  std::string_view text;
  std::string_view members{};  // JSON, of what it is about: `"kind":"spawn","server":"files"`
  std::int64_t time_ms = 0;    // since 1970; 0 = now
};
void log_entry(const LogEntry& entry);

/// Makes the line, without its end, of an entry whose time is set. Null = as people read it, which is the
/// default.
using LogLook = std::string (*)(const LogEntry& entry);
void set_log_look(LogLook look);

/// Lines that were not written, because nobody reads.
std::uint64_t lost_log_lines();

}  // namespace corral
