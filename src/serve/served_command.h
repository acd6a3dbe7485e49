// Passes the command of `corral serve -- COMMAND` from the starting process to the daemon, in a memory file.
// On the daemon's command line it would be limited to the size that a janitor can hold, a kill by name that
// is meant for the server would hit the daemon, and every user could read the command while the daemon runs.
// The first process writes the file, the janitor passes its descriptor on, and the daemon reads it once.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/service.h"

namespace corral::serve {

/// The argument before the file's descriptor, ahead of the janitor's arguments.
inline constexpr const char* kServedCommand = "@command";

/// Stores `command`, `cwd` and `environment` of the options. The descriptor survives exec, and the file is
/// sealed.
Result<UniqueFd> write_served_command(const ServeOptions& options);

/// Sets the same members of `options` from the file. Fails if the text is incomplete.
Result<void> read_served_command(int file, ServeOptions& options);

// The text of the file. Pure; parsing returns false and may change `options` if the text is incomplete.
std::string served_command_text(const ServeOptions& options);
bool parse_served_command(const std::string& text, ServeOptions& options);

}  // namespace corral::serve
