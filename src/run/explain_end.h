// Sentences about the end of a session that did not go as it should.
#pragma once

#include <string>

#include "keeper/report.h"

namespace corral::run {

std::string explain_survivor(const keeper::Survivor& survivor);
std::string explain_limit(const keeper::LimitState& limit);
/// Empty if it went well.
std::string explain_terminator(const keeper::TerminatorResult& result);

}  // namespace corral::run
