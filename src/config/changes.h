// What a reload has to do: the servers in which two configurations differ. Pure; any thread may call.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"

namespace corral::config {

/// Names. `removed` in the order of the old file, the others in that of the new one.
struct Changes {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  bool http = false;  // the door by URL would stand elsewhere, or open to others
};

/// A server counts as changed if it would be started, shared, kept or shown otherwise than before. Where it
/// stands in the file does not count, nor does the order of its variables and tools: nobody's server ends
/// because a file was tidied up.
Changes changes(const Configuration& before, const Configuration& after);

}  // namespace corral::config
