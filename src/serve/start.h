// The first life of `corral serve`: finds the runtime folder, takes the lock and becomes the janitor by exec.
// Or leaves, because a daemon runs already.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/service.h"

namespace corral::serve {

/// Returns only if no janitor could be, or need be, had.
int start(const ServeOptions& options);

/// Starts `corral serve` detached, waits until it answers and says where.
int start_in_background(const ServeOptions& options);

/// The first of the places that can be had. Where none can, the reasons of all are told.
Result<std::string> choose_runtime_dir(const std::vector<std::string>& places);

}  // namespace corral::serve
