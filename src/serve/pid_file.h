// The pid file of the daemon: three lines with its pid, version and start time. It only says which version is
// running. Whether a daemon is running is decided by the lock, so a file that a killed daemon left behind is
// reported and replaced.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace corral::serve {

struct PidRecord {
  pid_t pid = 0;
  std::string version;
  std::string started;  // RFC 3339, UTC

  bool operator==(const PidRecord&) const = default;
};

std::string encode(const PidRecord& record);
/// Exactly three lines, or nothing.
std::optional<PidRecord> decode_pid_record(std::string_view text);

/// Nothing if there is no such file, or it is not a pid file.
std::optional<PidRecord> read_pid_file(const std::string& path);

/// A sentence about the file that is about to be replaced; empty if there is none.
std::string describe_stale(const std::string& path);

/// Atomic: a reader sees the old file or the new one.
Result<void> write_pid_file(const std::string& path, const PidRecord& record);

/// Does nothing if another daemon has replaced the file.
void remove_pid_file(const std::string& path, const PidRecord& record);

}  // namespace corral::serve
