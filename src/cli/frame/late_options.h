// Options that stand behind the words of a command: `corral config check --json`. The parser leaves
// everything from the first word on to the command, because for most of them that is a server's command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

/// Applies the options among `words` and returns the rest. Behind `--` there are only words.
Result<std::vector<std::string>> apply_late_options(const std::vector<Option>& options,
                                                    const std::vector<std::string>& args);

/// Whether --help or -h is among the words, as an option and not as the value of one.
bool asks_for_help(const std::vector<Option>& options, const std::vector<std::string>& args);

/// Whether the words stood behind `--`, which the parser takes away: `connect NAME` and `connect -- COMMAND`
/// look the same to a command otherwise. The words are the end of our command line, whatever stands before
/// them.
bool came_after_dashes(const std::vector<std::string>& args);

}  // namespace corral::cli
