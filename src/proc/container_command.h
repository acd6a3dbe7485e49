// `docker run` and `podman run` start a server that is not below us: the daemon's child, not ours. We know
// these launchers, so we mark the container when it starts and remove it when the session ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proc/plan_bytes.h"

namespace corral::proc {

struct ContainerCommand {
  std::vector<std::string> argv;  // with our label and a file for the container's id
  Terminator removal;
};

/// Nothing if this is no container run. `executable` is the launcher that was found; `scratch` a folder for
/// the id file; `directory` what a relative --cidfile of the user's is relative to.
std::optional<ContainerCommand> container_command(const std::vector<std::string>& argv,
                                                  const std::string& executable, const std::string& instance,
                                                  const std::string& scratch, const std::string& directory);

}  // namespace corral::proc
