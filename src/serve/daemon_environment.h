// Which variables the daemon inherits from the program that starts it: what it needs to find files and to
// speak to a service manager, and no secret of a client. Servers get their environment from the session that
// needs them.
#pragma once

#include <string>
#include <vector>

namespace corral::serve {

/// "NAME=value" of the variables that stay.
std::vector<std::string> daemon_environment(const char* const* variables);

/// Without those for a service manager: they are not meant for a daemon that is only started here.
std::vector<std::string> detached_environment(const char* const* variables);

/// For `serve -- COMMAND`: all variables of the program that started us, without those for a service manager.
std::vector<std::string> served_environment(const char* const* variables);

/// For exec; null at the end. The pointers are valid as long as the arguments are.
std::vector<char*> as_pointers(std::vector<std::string>& words);

}  // namespace corral::serve
