// What the daemon gets of the environment of whoever starts it: what a program needs to find files and to
// speak to a service manager, and nothing of a client's secrets. Servers get their environment from the
// session that needs them.
#pragma once

#include <string>
#include <vector>

namespace corral::serve {

/// "NAME=value" of the variables that stay.
std::vector<std::string> daemon_environment(const char* const* variables);

/// Without those that speak to a service manager: they are not meant for a daemon that is only started here.
std::vector<std::string> detached_environment(const char* const* variables);

/// For a server that we serve alone: all that whoever started us has, but what speaks to a service manager.
std::vector<std::string> served_environment(const char* const* variables);

/// For exec; null at the end. Good as long as the words are.
std::vector<char*> as_pointers(std::vector<std::string>& words);

}  // namespace corral::serve
