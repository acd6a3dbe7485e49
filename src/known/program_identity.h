// Which program a file, a script or a module is: its key, name, version and what it is built on. The second
// half of understand(), for when every launcher in front is peeled off.
#pragma once

#include <string>
#include <string_view>

#include "known/server_command.h"

namespace corral::known {

/// The path without symbolic links; empty if there is nothing.
std::string resolved(const std::string& path);

/// From a folder; empty if that is not known and would matter.
std::string absolute_path(const std::string& path, const std::string& directory);

/// The file that a shell would run, resolved: a path as it is, a bare name by `path`, the value of PATH.
std::string find_program(const std::string& command, const std::string& directory, const std::string& path);

/// "npx" for a script that is that launcher: `…/npm/bin/npx-cli.js`, `…/.bin/npx`. Empty if it is none.
std::string launcher_of_script(const std::string& path);

/// A file that exists, resolved.
void identify_file(const std::string& real, ServerCommand& command);

/// A script as it stands in the words of its interpreter.
void identify_script(const std::string& given, const std::string& directory, ServerCommand& command);

/// `python -m NAME`. `interpreter` as it was called, because its virtual environment is lost when links are
/// followed; empty for the project's own.
void identify_module(const std::string& interpreter, const std::string& name, const std::string& directory,
                     ServerCommand& command);

/// Takes over what a manifest near `path` says.
void describe_by_manifest(const std::string& path, ServerCommand& command);

}  // namespace corral::known
