// The file of a log that nobody looks after. It stands in memory (/run/user), so it has a bound, also while
// it is written to: beyond it the older half goes.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral {

inline constexpr off_t kLongestLog = off_t{1} << 20;

/// For reading and appending, made if need be, and cut; for its owner alone. Invalid: errno says why.
UniqueFd open_log_file(const std::string& path);

/// If it is longer than kLongestLog, its newest half stays, from the start of a line on. A line that another
/// process writes at this very moment may be lost.
void cut_log_file(int file);

/// If standard error is the file at `path`: from now on it is cut as it grows. Somebody else's file never is.
void bound_standard_error(const std::string& path);

/// One line, whole; false if it could not be written. Any thread may call.
bool write_to_standard_error(std::string_view line);

}  // namespace corral
