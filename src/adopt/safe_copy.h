// A copy of a client's file before corral's first change of the day, for the case that nothing else helps.
// Only the user can read it: the file may have credentials.
#pragma once

#include <string>

#include "base/result.h"

namespace corral::adopt {

/// Returns the name of the copy: adopted/FILE-HASH/DATE in the state directory. An existing copy of this day
/// stays as it is; of each file the newest ten are kept. `date` is "2026-11-19".
Result<std::string> keep_copy(const std::string& state_directory, const std::string& file,
                              const std::string& text, const std::string& date);

}  // namespace corral::adopt
