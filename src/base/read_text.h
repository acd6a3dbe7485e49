// Reads small files whole, such as those in /proc.
#pragma once

#include <string>

namespace corral {

/// Returns at most 1 MiB. After an error, for example because the process has ended, returns what was read so
/// far. (A stream iterator would throw in that case, whatever exception mask the stream has.)
std::string read_text(const std::string& path);

}  // namespace corral
