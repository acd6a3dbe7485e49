// Starts the daemon as a process that belongs to nobody: not to the client, its terminal or its session.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::shim {

struct DaemonCommand {
  std::string runtime_dir;
  std::string config_file;  // empty = its default
};

/// Returns a pidfd once it has become `corral serve`. An error if it would not be free: below somebody who
/// ends what is left behind (`corral run`, `corral guard`, another subreaper) it would die with a session
/// that it is not part of. An error, too, if filters hold us that do not hold its new parent: they would hold
/// every server of the user's, for as long as it lives.
Result<UniqueFd> start_daemon(const DaemonCommand& command, int log);

/// Of our own environment, what a daemon for all of a user's sessions may have.
bool is_for_daemon(std::string_view variable);

}  // namespace corral::shim
