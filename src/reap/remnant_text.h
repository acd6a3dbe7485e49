// One line for people about a process that an earlier daemon has left.
#pragma once

#include <string>

#include "reap/end_trees.h"
#include "registry/registry.h"

namespace corral::reap {

std::string remnant_text(const registry::InstanceRecord& instance, const Outcome& outcome);

}  // namespace corral::reap
