// The tool `reap` of the control server: the choice and the end of `corral reap`, told to a program.
#pragma once

#include <boost/json/object.hpp>

#include "observe/tool.h"

namespace corral::cli {

/// Looks at the whole machine, and ends what is chosen only if `confirm` is true and something was named to
/// choose by. Blocks for as long as processes take to end, a few seconds at most.
observe::ToolResult reap_tool(const boost::json::object& arguments);

}  // namespace corral::cli
