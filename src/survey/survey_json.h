// The survey as JSON, for programs. docs/doctor-schema.json describes it; a change there is a change to the
// contract. All text is printable, and secrets in command lines are hidden.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "proc/levels.h"
#include "survey/findings.h"
#include "survey/survey.h"

namespace corral::survey {

/// One line, without a newline at the end.
std::string to_json(const Survey& survey, const std::vector<Finding>& findings, const proc::Levels& levels,
                    std::size_t keep);

/// One finding, for `corral watch --json`.
std::string to_json(const Survey& survey, const Finding& finding);

/// A server as in the list of servers.
std::string to_json(const Server& server);

/// Which containment levels there are on this machine.
boost::json::object describe(const proc::Levels& levels);

const char* name_of(Server::State state);
const char* name_of(Server::Cause cause);

}  // namespace corral::survey
