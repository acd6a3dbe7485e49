// Takes a server out of the text of a configuration and leaves every byte that is not about it as it is.
// Pure.
#pragma once

#include <string>

#include "base/result.h"

namespace corral::config {

/// The text without the server. What goes with it: its comma, the comments directly above it and the one
/// behind it, if no other server stands on its lines. A blank line parts a comment from what is below it.
/// `file` is for messages. The error's kind is NotFound if there is no such server; it names the nearest one.
Result<std::string> remove_server(const std::string& text, const std::string& file, const std::string& name);

}  // namespace corral::config
