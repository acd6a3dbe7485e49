// Turns the keeper's report of a failed start into an error message that says what to do.
#pragma once

#include <string>

#include "base/result.h"
#include "keeper/lifeline.h"

namespace corral::proc {

Error explain_start_failure(const keeper::Event& event, const std::string& executable,
                            const std::string& directory);

}  // namespace corral::proc
