// N, the number of copies of one server that stay: idle instances in the daemon, and copies that a client may
// hold before `doctor` and `reap` call them a pile-up. The same number everywhere.
//
// The order is: `--keep`, `corral.keep` of the configuration, MAX_KEEP_PROCESSES, kDefaultKeep. The command
// line reads `--keep`, config/ reads the file; both begin with what is declared here.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace corral {

inline constexpr std::size_t kDefaultKeep = 9;

/// MAX_KEEP_PROCESSES, or the default if it is not set or empty. A value that is not a whole number is an
/// error that names the variable.
Result<std::size_t> keep_from_environment();

/// The same without an error: a value that is not a number counts as not set. For the daemon, which must
/// start.
std::size_t keep_from_environment_or_default();

/// N for servers in use. A 0 in the configuration or the environment means that no idle instance stays in the
/// daemon, but a client keeps at least one copy of a server that it uses. Only `--keep 0` ends all.
std::size_t keep_in_use(std::size_t configured);

}  // namespace corral
