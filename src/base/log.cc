// The only file that includes spdlog (docs/decisions/0029-spdlog.md). It is used header-only, so there is no
// run-time dependency, and without its registry, patterns and threads, so they cost nothing.
#include "base/log.h"

#define FMT_HEADER_ONLY
#define SPDLOG_HEADER_ONLY
#define SPDLOG_DISABLE_DEFAULT_LOGGER
#include <poll.h>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/version.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <memory>

#include "base/log_file.h"
#include "base/text.h"
#include "version.h"

namespace corral {
namespace {

std::atomic<LogLook> chosen_look{nullptr};
std::atomic<std::uint64_t> lost_lines{0};

/// Passes what an spdlog message has no field for. A logger without a queue calls its sinks before it
/// returns.
struct BesideMessage {
  std::string_view members;
  LogLook look = nullptr;
};
thread_local BesideMessage beside;

/// Always one line, printable, so that a command name chosen by a client cannot affect a terminal. A line end
/// or another control character of ASCII is only a space: most come from sentences with several lines.
std::string as_text(const LogEntry& entry) {
  std::string text(entry.text);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, ' ');
  return "[corral v" + std::string(kVersion) + "] " + printable(text);
}

spdlog::level::level_enum level_for(LogLevel level) {
  if (level == LogLevel::Error) return spdlog::level::err;
  return level == LogLevel::Warn ? spdlog::level::warn : spdlog::level::info;
}

LogLevel level_from(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return LogLevel::Error;
  return level == spdlog::level::warn ? LogLevel::Warn : LogLevel::Info;
}

/// At most PIPE_BUF bytes: a pipe takes that much in one piece or not at all, and a longer write might block.
std::string line_of(LogEntry entry, LogLook look) {
  std::string line = look(entry);
  while (line.size() >= PIPE_BUF && !entry.text.empty()) {
    const std::size_t beyond = line.size() - PIPE_BUF + 1;
    // One character may take six bytes as an escape, so several rounds may be needed.
    entry.text.remove_suffix(std::max<std::size_t>(std::min(beyond / 6, entry.text.size()), 1));
    line = look(entry);
  }
  line.resize(std::min<std::size_t>(line.size(), PIPE_BUF - 1));
  return line + '\n';
}

class StandardError final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    using std::chrono::milliseconds;
    const auto since = std::chrono::duration_cast<milliseconds>(message.time.time_since_epoch());
    const std::string line = line_of({level_from(message.level),
                                      {message.payload.data(), message.payload.size()},
                                      beside.members,
                                      since.count()},
                                     beside.look == nullptr ? as_text : beside.look);
    // One write call, so that lines from several processes do not mix. A reader that has stopped must not
    // block the daemon.
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    const bool has_room = poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;
    if (!has_room || !write_to_standard_error(line)) ++lost_lines;
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}
};

spdlog::logger& own_logger() {
  static spdlog::logger logger("corral", std::make_shared<StandardError>());
  return logger;
}

void hand_to_logger(const LogEntry& entry, LogLook look) {
  using spdlog::log_clock;
  const auto time =
      entry.time_ms == 0 ? log_clock::now() : log_clock::time_point(std::chrono::milliseconds(entry.time_ms));
  beside = {entry.members, look};
  own_logger().log(time, {}, level_for(entry.level),
                   spdlog::string_view_t(entry.text.data(), entry.text.size()));
  beside = {};
}

}  // namespace

void log_line(std::string_view sentence, LogLevel level) { log_entry({level, sentence}); }

void log_as_text(std::string_view sentence) { hand_to_logger({LogLevel::Info, sentence}, nullptr); }

void log_entry(const LogEntry& entry) { hand_to_logger(entry, chosen_look); }

void set_log_look(LogLook look) { chosen_look = look; }

std::string spdlog_version() {
  return std::to_string(SPDLOG_VER_MAJOR) + "." + std::to_string(SPDLOG_VER_MINOR) + "." +
         std::to_string(SPDLOG_VER_PATCH);
}

std::string fmt_version() {
  return std::to_string(FMT_VERSION / 10000) + "." + std::to_string(FMT_VERSION / 100 % 100) + "." +
         std::to_string(FMT_VERSION % 100);
}

std::uint64_t lost_log_lines() { return lost_lines; }

}  // namespace corral
