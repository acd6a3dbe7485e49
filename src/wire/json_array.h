// The elements of a JSON array, as pieces of its text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/span.h"

namespace corral::wire {

/// Where each element of `array` stands in it, in order. Nothing if the text is not an array; white space
/// around it is fine. Of an array with more than `most` elements the first `most` + 1 are given and the rest
/// is not looked at: a place takes more memory than the shortest element.
std::optional<std::vector<Span>> array_elements(std::string_view array, std::size_t most);

/// Messages that a client may put on one line.
inline constexpr std::size_t kMostInBatch = 256;

/// More tools, blocks of content or messages than a list of any use has.
inline constexpr std::size_t kMostElements = std::size_t{1} << 16;

}  // namespace corral::wire
