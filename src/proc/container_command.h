// `docker run` and `podman run` start a server that is not below us: the daemon's child, not ours. We know
// these launchers, so we mark the container when it starts and remove it when the session ends.
#pragma once

#include <string>
#include <vector>

#include "proc/plan_bytes.h"

namespace corral::proc {

/// Whether this command starts a container.
bool is_container_run(const std::vector<std::string>& argv);

struct ContainerCommand {
  std::vector<std::string> argv;  // with our label and a file for the container's id
  /// What its removal needs to know: our folder, and the launcher with its own options, behind `env` with the
  /// variables that tell it where its engine is.
  std::vector<std::string> removal;
};

/// `executable` is the launcher that was found; `folder` a fresh one that only we can write to, for the id.
/// The removal takes it away again.
ContainerCommand container_command(const std::vector<std::string>& argv,
                                   const std::vector<std::string>& environment, const std::string& executable,
                                   const std::string& instance, const std::string& folder);

/// Removes what carries the label of the instance that CORRAL_INSTANCE names.
Terminator container_removal(const std::vector<std::string>& removal);

}  // namespace corral::proc
