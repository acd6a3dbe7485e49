// The project that a session works on: its directory, and the variable for it in a configuration entry.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace corral::shim {

/// The directory in the form that the daemon expects: absolute, without symbolic links. Fails if it is not a
/// directory.
Result<std::string> find_root(const std::string& given);

/// The variables that ${…} in an entry can use: the given ones, and CORRAL_ROOT, which a client cannot
/// override.
std::vector<std::string> with_root(const std::vector<std::string>& environment, const std::string& root);

}  // namespace corral::shim
