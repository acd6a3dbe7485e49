// Random names that cannot be guessed and do not repeat.
#pragma once

#include <cstddef>
#include <string>

namespace corral {

/// Returns `bytes` random bytes as hexadecimal text, two digits per byte. Aborts if the kernel has no random
/// numbers.
std::string random_hex(std::size_t bytes);

}  // namespace corral
