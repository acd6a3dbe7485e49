// How much a configuration may ask of us.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corral::config {

inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;  // some clients keep histories in theirs
inline constexpr std::uint32_t kMostProcesses = 4'194'304;          // that Linux can have
inline constexpr std::uint32_t kMostWarm = 64;  // instances that wait, each a whole tree of processes
inline constexpr std::uint64_t kSmallestLineCap = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kLargestLineCap = std::uint64_t{1} << 30;
/// The kernel takes no longer word, and no longer list of words, whatever the limits say.
inline constexpr std::size_t kLongestWord = 128 << 10;
inline constexpr std::size_t kMostWords = std::size_t{6} << 20;

}  // namespace corral::config
