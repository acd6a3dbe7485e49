// What survey's parsers say about a broken text, in the form of our own errors.
#pragma once

#include <string>

#include "base/result.h"

namespace corral::config {

/// "line 3, column 14: …" becomes "FILE:3:14: …. Hint."
Error parse_error(const std::string& file, const std::string& error);

}  // namespace corral::config
