// The log file of a daemon that runs in the background. Nobody rotates it and it is in memory (/run/user), so
// its size is bounded even while it is open: beyond the bound, the older half is dropped.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral {

// In bytes.
inline constexpr off_t kLongestLog = off_t{1} << 20;

/// Opens the file for reading and appending with mode 0600, creates it if necessary, and trims it. On failure
/// the descriptor is invalid and errno says why.
UniqueFd open_log_file(const std::string& path);

/// If the file is longer than kLongestLog, keeps its newest half, starting at the beginning of a line. A line
/// that another process writes at the same moment may be lost.
void cut_log_file(int file);

/// If standard error is the file at `path`, trims that file as it grows from now on. No other file is ever
/// trimmed.
void bound_standard_error(const std::string& path);

/// Writes one whole line; false if that failed. May be called on any thread.
bool write_to_standard_error(std::string_view line);

}  // namespace corral
