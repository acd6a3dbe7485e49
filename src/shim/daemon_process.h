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
  bool ask_manager = true;  // for a cgroup of its own, where a service manager of the user's runs
};

struct StartedDaemon {
  UniqueFd pidfd;
  pid_t pid = 0;
  bool by_manager = false;  // if it leaves at once, that may be the manager's doing
};

/// Returns once it has become `corral serve`, or whom the service manager gave to run that. An error if it
/// would not be free: below somebody who ends what is left behind (`corral run`, `corral guard`, another
/// subreaper), or in a cgroup that may be stopped as a whole, it would die with a session that it is not part
/// of. An error, too, if filters or limits hold us that do not hold its new parent: they would hold every
/// server of the user's, for as long as it lives.
Result<StartedDaemon> start_daemon(const DaemonCommand& command, int log);

/// Whether it is still the program that asks the service manager: that becomes `corral serve` once it has its
/// scope. False if it has ended.
bool still_asks_manager(const StartedDaemon& daemon);

/// Of our own environment, what a daemon for all of a user's sessions may have.
bool is_for_daemon(std::string_view variable);

}  // namespace corral::shim
