// Helpers for paths as text; nothing here reads a file system.
#pragma once

#include <string>
#include <string_view>

namespace corral {

/// Everything after the last slash.
inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace corral
