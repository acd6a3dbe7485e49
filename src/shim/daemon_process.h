// Starts the daemon as an independent process, detached from the client, its terminal and its session.
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
  bool ask_manager = true;  // try to get a scope from the user's service manager
};

struct StartedDaemon {
  UniqueFd pidfd;
  pid_t pid = 0;
  bool by_manager = false;  // if it exits at once, the manager may be the cause
};

/// Returns when the process has executed `corral serve`, or the program that asks the service manager to run
/// it. Fails if the daemon would not be independent: below a process that ends what it inherits (`corral
/// run`, `corral guard`, another subreaper), or in a cgroup that may be stopped as a whole, it would die with
/// a session that it is not part of. Also fails if filters or limits apply to us but not to its new parent:
/// they would apply to every server of the user for as long as the daemon lives.
Result<StartedDaemon> start_daemon(const DaemonCommand& command, int log);

/// Whether the process is still systemd-run, which executes `corral serve` once it has its scope. False if it
/// has exited.
bool still_asks_manager(const StartedDaemon& daemon);

/// Whether a daemon for all of a user's sessions may inherit this variable from us.
bool is_for_daemon(std::string_view variable);

}  // namespace corral::shim
