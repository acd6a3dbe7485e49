// The first process of `corral serve`: finds the runtime folder, takes the lock and becomes the janitor by
// exec. Or ends, because a daemon runs already.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/service.h"

namespace corral::serve {

/// Returns only on an error, or if a daemon runs already.
int start(const ServeOptions& options);

/// Starts `corral serve` detached, waits until it answers and says where.
int start_in_background(const ServeOptions& options);

/// Tells the person at the terminal why there is no daemon; returns the exit code.
int fail_to_serve(const std::string& sentence);

/// The first of the places that can be used. If none can, the error gives the reason for each.
Result<std::string> choose_runtime_dir(const std::vector<std::string>& places);

}  // namespace corral::serve
