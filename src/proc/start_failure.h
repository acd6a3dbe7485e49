// Turns a failed start, as the keeper tells it, into a sentence that helps.
#pragma once

#include <string>

#include "base/result.h"
#include "keeper/lifeline.h"

namespace corral::proc {

Error explain_start_failure(const keeper::Event& event, const std::string& executable,
                            const std::string& directory);

}  // namespace corral::proc
