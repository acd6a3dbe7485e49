// Which of two versions is the later one. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace corral {

/// Whether it can be compared: numbers with dots between them, as in "1.2.3", "v1.2", "2026.8.31", maybe with
/// a pre-release behind a "-" and a build behind a "+".
bool is_version(std::string_view text);

/// As Semantic Versioning has it: "1.0.0-rc.1" < "1.0.0", and a build ("+…") does not count. A number that is
/// not written is 0: "1.2" and "1.2.0" are equal. Nothing if one of them is no version: then nobody can say.
std::optional<std::strong_ordering> compare_versions(std::string_view left, std::string_view right);

}  // namespace corral
