// Options that follow the arguments of a command: `corral config check --json`. The parser passes everything
// from the first argument on to the command unchanged, because for many commands that is a server's command
// line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

/// Applies the options among `args` and returns the other arguments. Nothing after `--` is an option.
Result<std::vector<std::string>> apply_late_options(const std::vector<Option>& options,
                                                    const std::vector<std::string>& args);

/// Whether --help or -h is among the arguments, as an option and not as the value of one.
bool asks_for_help(const std::vector<Option>& options, const std::vector<std::string>& args);

/// Whether `args` followed a `--`, which the parser removes: without it, `connect NAME` and
/// `connect -- COMMAND` look the same to a command. Reads /proc/self/cmdline, whose end `args` must be.
bool came_after_dashes(const std::vector<std::string>& args);

}  // namespace corral::cli
