// Small files of the kernel and of others, read whole.
#pragma once

#include <string>

namespace corral {

/// At most a mebibyte; what could be read if there is an error, such as a process that ends meanwhile. (A
/// stream iterator would throw in that case, whatever the stream was told about exceptions.)
std::string read_text(const std::string& path);

}  // namespace corral
