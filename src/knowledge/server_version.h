// Which version a server says it is.
#pragma once

#include <string>
#include <string_view>

namespace corral::knowledge {

/// Out of the result of its handshake, of either era; empty if it says none.
std::string version_in(std::string_view handshake_result);

/// Why a server that says this is not to be used, as a sentence; empty if it may be. Without a version, or
/// with one that cannot be compared, nobody can know, and it is refused.
std::string objection_to_version(const std::string& server, std::string_view handshake_result,
                                 const std::string& least);

}  // namespace corral::knowledge
