// A message about one process that an earlier daemon has left behind.
#pragma once

#include <string>

#include "reap/end_trees.h"
#include "registry/registry.h"

namespace corral::reap {

/// One line: noun, cause, and what was done or what to do. Always printable.
std::string remnant_text(const registry::InstanceRecord& instance, const Outcome& outcome);

}  // namespace corral::reap
