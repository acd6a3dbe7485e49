// The project that a session is about: its folder, and the variable that stands for it in an entry.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace corral::shim {

/// The folder as the daemon wants it: absolute, without symbolic links. The error says that it is none.
Result<std::string> find_root(const std::string& given);

/// What ${…} in an entry may stand for: these variables, and CORRAL_ROOT, which is never the client's to say.
std::vector<std::string> with_root(const std::vector<std::string>& environment, const std::string& root);

}  // namespace corral::shim
