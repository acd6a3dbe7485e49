// The capabilities that a modern client declares. It sends them with every request, while a legacy server
// receives them once.
#pragma once

#include <string>
#include <vector>

#include "transport/http_session.h"

namespace corral::transport {

/// Sorted: "elicitation", "elicitation.url", "sampling" …
std::vector<std::string> capability_names(const Posted& posted);

/// Whether `declared` contains all of `wanted`; both must be sorted.
bool covers(const std::vector<std::string>& declared, const std::vector<std::string>& wanted);

}  // namespace corral::transport
