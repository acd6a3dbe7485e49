// A message about one process that an earlier daemon has left behind. Pure.
//
// The daemon writes it into its log and its events at its start, for every process that it found by the
// records of the registry, ended or not. The name of the server and of the process are foreign text, so the
// result is made printable (base/text.h).
#pragma once

#include <string>

#include "reap/end_trees.h"
#include "registry/registry.h"

namespace corral::reap {

/// One line without its end: which server, instance and process, what was done or why nothing was done, and
/// what the user can do next.
///
/// `instance` is the record of the registry, `outcome` what end_remnants() reports about one of its
/// processes.
std::string remnant_text(const registry::InstanceRecord& instance, const Outcome& outcome);

}  // namespace corral::reap
