// At the start of a daemon: ends what earlier ones of ours left behind, as the registry knows it, and tells
// each. Belongs to the loop thread; the work is done on the chronicle's.
#pragma once

#include "app/chronicle.h"

namespace corral::app {

/// Returns at once.
void recover_remnants(Chronicle& chronicle);

}  // namespace corral::app
