// The revisions of MCP by date, and the two eras that they belong to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace corral::wire {

/// Which protocol a server speaks. One process speaks one era.
enum class Era : std::uint8_t { Legacy, Modern };  // initialize … 2025-11-25; stateless, 2026-07-28

inline constexpr std::string_view kNewestLegacy = "2025-11-25";
inline constexpr std::string_view kModern = "2026-07-28";
inline constexpr std::array<std::string_view, 4> kLegacyRevisions = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                                     "2025-11-25"};

inline bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyRevisions.begin(), kLegacyRevisions.end(), version) != kLegacyRevisions.end();
}

}  // namespace corral::wire
