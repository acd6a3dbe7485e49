// The file of the option --report of `corral run` and `corral guard`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::cli {

/// Opens the file for appending, so that many sessions can share it, readable only by the user. "-" is
/// stderr, duplicated to a descriptor of at least `lowest`. An empty path returns an invalid descriptor. A
/// pipe without a reader is an error after a short wait, because opening it would block the start.
Result<UniqueFd> open_report(const std::string& path, int lowest);

}  // namespace corral::cli
