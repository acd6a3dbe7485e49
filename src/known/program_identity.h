// Which program a file, a script or a module is: its key, name, version and MCP SDK. The second half of
// understand(), after the launchers before the program have been removed.
#pragma once

#include <string>
#include <string_view>

#include "known/server_command.h"

namespace corral::known {

/// The path without symbolic links; empty if there is nothing.
std::string resolved(const std::string& path);

/// `path` seen from `directory`. Empty if `path` is relative and the directory is not known.
std::string absolute_path(const std::string& path, const std::string& directory);

/// The file that a shell would run, resolved: a path as it is, a bare name by `path`, the value of PATH.
std::string find_program(const std::string& command, const std::string& directory, const std::string& path);

/// "npx" for a script that is that launcher: `…/npm/bin/npx-cli.js`, `…/.bin/npx`. Empty if it is none.
std::string launcher_of_script(const std::string& path);

/// A file that exists, resolved.
void identify_file(const std::string& real, ServerCommand& command);

/// A script as it is written in the command line of its interpreter.
void identify_script(const std::string& given, const std::string& directory, ServerCommand& command);

/// `python -m NAME`. `interpreter` as it was called, because its virtual environment is lost when links are
/// followed; empty for the project's own.
void identify_module(const std::string& interpreter, const std::string& name, const std::string& directory,
                     ServerCommand& command);

/// Fills in what a package manifest near `path` contains.
void describe_by_manifest(const std::string& path, ServerCommand& command);

}  // namespace corral::known
