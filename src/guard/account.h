// What guard says at the end about what the client left behind, as text for people.
#pragma once

#include <string>

#include "guard/leftovers.h"
#include "keeper/report.h"

namespace corral::guard {

/// Empty if nothing was left. `columns` is the width of the terminal; 0 = not one.
std::string account(const std::string& client, const Leftovers& leftovers, const keeper::Report& report,
                    int columns);

}  // namespace corral::guard
