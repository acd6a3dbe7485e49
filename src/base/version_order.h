// Compares version numbers. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace corral {

/// True for versions that can be compared: numbers separated by dots, as in "1.2.3", "v1.2", "2026.8.31",
/// optionally with a pre-release after "-" and a build after "+".
bool is_version(std::string_view text);

/// Semantic Versioning order: "1.0.0-rc.1" < "1.0.0", and the build ("+…") is ignored. Missing numbers are 0,
/// so "1.2" equals "1.2.0". Empty if either text is not a version.
std::optional<std::strong_ordering> compare_versions(std::string_view left, std::string_view right);

}  // namespace corral
