// The elements of a JSON array, as pieces of its text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/span.h"

namespace corral::wire {

/// Where each element of `array` stands in it, in order. Nothing if the text is no array; white space around
/// it is fine.
std::optional<std::vector<Span>> array_elements(std::string_view array);

}  // namespace corral::wire
