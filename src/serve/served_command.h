// Passes the command of `corral serve -- COMMAND` from the starting process to the daemon, in a memory file.
// On a command line it would be cut to what a janitor can hold, a kill by command line that means the server
// would hit the daemon, and every user could read it for as long as the daemon runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/service.h"

namespace corral::serve {

/// The argument before the file's descriptor, ahead of the janitor's arguments.
inline constexpr const char* kServedCommand = "@command";

/// `command`, `cwd` and `environment` of the options. The file stays open over exec, and cannot be changed.
Result<UniqueFd> write_served_command(const ServeOptions& options);

/// Back into the options.
Result<void> read_served_command(int file, ServeOptions& options);

// The text of the file: pure.
std::string served_command_text(const ServeOptions& options);
bool parse_served_command(const std::string& text, ServeOptions& options);

}  // namespace corral::serve
