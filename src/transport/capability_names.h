// What a modern client says that it can be asked: with every request, while a legacy server hears it once.
#pragma once

#include <string>
#include <vector>

#include "transport/http_session.h"

namespace corral::transport {

/// In order: "elicitation", "elicitation.url", "sampling" …
std::vector<std::string> capability_names(const Posted& posted);

/// Whether everything of `wanted` is in `declared`; both in order.
bool covers(const std::vector<std::string>& declared, const std::vector<std::string>& wanted);

}  // namespace corral::transport
