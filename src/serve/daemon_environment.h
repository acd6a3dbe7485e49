// Which variables the daemon inherits from the program that starts it: those that it needs to find files and
// to notify a service manager. A client's secrets must not stay in the daemon, where other clients' servers
// could inherit them. Servers get their environment from the session that needs them.
//
// `variables` is an environment as in environ(7), null at the end. Pure. Used by the processes that start a
// daemon: `corral serve`, in the foreground and in the background, and `corral service`.
#pragma once

#include <string>
#include <vector>

namespace corral::serve {

/// The variables that a daemon keeps: those of shim::is_for_daemon and those for a service manager. As
/// "NAME=value", in the given order.
std::vector<std::string> daemon_environment(const char* const* variables);

/// The same without those for a service manager: it meant them for this process, not for a daemon that this
/// process starts in the background.
std::vector<std::string> detached_environment(const char* const* variables);

/// For `serve -- COMMAND`: all variables except those for a service manager.
std::vector<std::string> served_environment(const char* const* variables);

/// For exec; null at the end. The pointers are valid as long as `words` is unchanged.
std::vector<char*> as_pointers(std::vector<std::string>& words);

}  // namespace corral::serve
