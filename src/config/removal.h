// Removes a server from the text of a configuration and preserves every byte that does not belong to it.
// Pure.
#pragma once

#include <string>

#include "base/result.h"

namespace corral::config {

/// The text without the server and its comma. If no other server is on its lines, the comments directly above
/// it and the one after it are removed, too; a comment above a blank line stays. `file` is for messages. If
/// there is no such server, the kind of the error is NotFound and its message suggests the most similar name.
Result<std::string> remove_server(const std::string& text, const std::string& file, const std::string& name);

}  // namespace corral::config
