// A short name for a text that is too long or too secret to be one. Pure.
#pragma once

#include <string>
#include <string_view>

namespace corral::knowledge {

/// "5df41881-3aed-3515-88a7-2f4a814cf09e": a UUID of version 5 (SHA-1, RFC 4122), the same for the same text.
std::string name_digest(std::string_view text);

}  // namespace corral::knowledge
