// Finds the elements of a JSON array, as spans of its text. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/span.h"

namespace corral::wire {

/// The spans of the elements of `array`, in order. Empty optional if the text is not an array; white space
/// around it is allowed. If there are more than `most` elements, returns the first `most` + 1 and ignores the
/// rest: a span needs more memory than the shortest element.
std::optional<std::vector<Span>> array_elements(std::string_view array, std::size_t most);

/// Maximum number of messages in one batch of a client.
inline constexpr std::size_t kMostInBatch = 256;

/// More tools, content blocks or messages than any useful list has.
inline constexpr std::size_t kMostElements = std::size_t{1} << 16;

}  // namespace corral::wire
