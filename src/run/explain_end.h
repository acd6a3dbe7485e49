// Messages about a session that did not end as it should: what happened and what to do. Pure.
#pragma once

#include <string>

#include "keeper/report.h"

namespace corral::run {

/// A process that could not be ended.
std::string explain_survivor(const keeper::Survivor& survivor);
/// A limit that was exceeded.
std::string explain_limit(const keeper::LimitState& limit);
/// Empty if the terminator succeeded.
std::string explain_terminator(const keeper::TerminatorResult& result);

}  // namespace corral::run
