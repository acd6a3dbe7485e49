// `docker run` and `podman run` start a server outside our process tree: it is a child of the container
// engine. corral recognises these launchers, labels the container when it starts and removes it when the
// session ends.
#pragma once

#include <string>
#include <vector>

#include "proc/plan_bytes.h"

namespace corral::proc {

/// Whether this command starts a container.
bool is_container_run(const std::vector<std::string>& argv);

struct ContainerCommand {
  std::vector<std::string> argv;  // with a label and a file for the container's id
  /// What the removal needs: the directory with the id file, and the launcher with its options, preceded by
  /// `env` with the variables that select its engine.
  std::vector<std::string> removal;
};

/// `executable` is the launcher that was found. `folder` is a new directory for the id that only this user
/// can write to; the removal deletes it.
ContainerCommand container_command(const std::vector<std::string>& argv,
                                   const std::vector<std::string>& environment, const std::string& executable,
                                   const std::string& instance, const std::string& folder);

/// Removes the container that carries the label of the instance in CORRAL_INSTANCE.
Terminator container_removal(const std::vector<std::string>& removal);

}  // namespace corral::proc
