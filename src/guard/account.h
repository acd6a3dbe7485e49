// The text at the end of `corral guard` about the processes that the client left behind. Pure.
#pragma once

#include <string>

#include "guard/leftovers.h"
#include "keeper/report.h"

namespace corral::guard {

/// Empty if nothing was left behind. `columns` is the width of the terminal; 0 = stderr is not a terminal.
std::string account(const std::string& client, const Leftovers& leftovers, const keeper::Report& report,
                    int columns);

}  // namespace corral::guard
