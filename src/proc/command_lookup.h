// Finds the file behind a command as a shell would, and says why not in a way that helps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::proc {

/// The value of NAME in a list of "NAME=value"; empty if it is not there.
std::string_view environment_value(const std::vector<std::string>& environment, std::string_view name);

/// A file to execute.
struct Executable {
  std::string path;
};

/// A name with a slash is taken from `directory` (empty = ours), any other from PATH.
Result<Executable> find_command(const std::string& command, const std::vector<std::string>& environment,
                                const std::string& directory);

/// Why the kernel refused a file that is there: a script's interpreter is missing, it is no program, ….
Error explain_exec_failure(const std::string& executable, int error);

}  // namespace corral::proc
