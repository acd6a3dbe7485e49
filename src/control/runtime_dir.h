// The daemon's directories. The runtime directory has its sockets and locks, and only the user can enter it.
// Its path is derived from the uid and not from the environment alone, because many clients start their
// servers with almost no environment. The state directory has what outlives the daemon.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace corral::control {

/// In order of preference: /run/user/UID/corral, /tmp/corral-UID; only the given one if there is one.
/// A client tries all of them; a daemon starts in the first one that can be used.
std::vector<std::string> candidates(const std::string& given, uid_t uid);

/// Creates the directory if it is missing and checks it: no symbolic link, owned by this user, mode 0700. The
/// error names the directory, what is wrong with it and what to do.
Result<void> ensure_runtime_dir(const std::string& path);
/// The same check without creating anything; a missing directory is Error::Kind::NotFound.
Result<void> check_runtime_dir(const std::string& path);

std::string socket_path(const std::string& runtime_dir);       // corral.sock
std::string http_socket_path(const std::string& runtime_dir);  // http.sock: HTTP for this user only
std::string lock_path(const std::string& runtime_dir);         // corral.lock: held by janitor and daemon
std::string starting_path(
    const std::string& runtime_dir);  // starting.lock: held by a shim while it starts a daemon
std::string pid_path(const std::string& runtime_dir);  // corral.pid
std::string log_path(const std::string& runtime_dir);  // daemon.log: stderr of an auto-started daemon

/// The directory for what outlives the daemon: $XDG_STATE_HOME/corral, or ~/.local/state/corral. Empty if the
/// user has no home: then nothing is stored. A relative path in a variable is ignored, because the daemon's
/// working directory is not that of the user who set it.
std::string default_state_directory();

/// The same for a daemon with this runtime directory. A directory that is not one of the user's usual ones
/// gets a state directory inside it, so that the two daemons share nothing.
std::string state_directory_for(const std::string& runtime_dir);

}  // namespace corral::control
