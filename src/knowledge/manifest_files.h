// Manifests used to be files, one each. What an earlier corral left there is taken over, once.
#pragma once

#include <string>

#include "registry/registry.h"

namespace corral::knowledge {

/// Files of ours in the folder go into the registry and then away; at last the folder, if it is empty.
/// Nothing happens while the registry is degraded: they would be gone with it. What cannot be read is told
/// and removed; what is not ours stays.
void move_manifests(const std::string& folder, registry::Registry& registry);

}  // namespace corral::knowledge
