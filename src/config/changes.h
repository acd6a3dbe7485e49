// The differences between two configurations that a reload has to act on. Pure; any thread may call.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"

namespace corral::config {

/// Names of servers: `removed` in the order of the old file, the others in the order of the new one.
struct Changes {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  bool http = false;  // the HTTP listener has other settings
};

/// A server has changed if it would be started, shared or contained differently than before. Its position in
/// the file does not matter, nor does the order of its variables and tools: tidying up a file must not end a
/// running server.
Changes changes(const Configuration& before, const Configuration& after);

}  // namespace corral::config
