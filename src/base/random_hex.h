// Names that nobody can guess, and that never come twice.
#pragma once

#include <cstddef>
#include <string>

namespace corral {

/// So many random bytes, as two digits each.
std::string random_hex(std::size_t bytes);

}  // namespace corral
