// Why a process is shared or not, which other process it is separate from, and what to write to change that:
// the same sentences in `corral why` and the long form of `corral ps`. Pure.
#pragma once

#include <string>
#include <vector>

#include "observe/snapshot.h"

namespace corral::cli {

/// One sentence per element, at least one; printable if the view was read by `observe::read_status`.
///   shared: every tool is annotated as read-only
///   separate from process 1040: PATH differs
///   to share it: "corral": {"ignore": ["PATH"]} in the entry "files"
std::vector<std::string> sharing_lines(const observe::InstanceView& instance);

}  // namespace corral::cli
