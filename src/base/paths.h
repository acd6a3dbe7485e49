// Paths as text.
#pragma once

#include <string>
#include <string_view>

namespace corral {

/// What follows the last slash.
inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace corral
