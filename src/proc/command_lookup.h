// Finds the file of a command as a shell would. The errors say what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::proc {

/// The value of NAME in a list of "NAME=value"; empty if NAME is not in it. Points into the list.
std::string_view environment_value(const std::vector<std::string>& environment, std::string_view name);

/// A file to execute.
struct Executable {
  std::string path;
};

/// A name with a slash is relative to `directory` (empty = our working directory); any other name is looked
/// up in PATH, whose relative parts are relative to `directory`, too.
Result<Executable> find_command(const std::string& command, const std::vector<std::string>& environment,
                                const std::string& directory);

/// Explains why the kernel refused to execute an existing file: a script's interpreter is missing, the file
/// is not a program, and so on.
Error explain_exec_failure(const std::string& executable, int error);

}  // namespace corral::proc
