// The tool `reap` of the control server: selects and ends servers by the same rules as `corral reap`.
#pragma once

#include <boost/json/object.hpp>

#include "observe/tool.h"

namespace corral::cli {

/// Surveys the machine. Ends the selected servers only if `confirm` is true and at least one selector is
/// given. Blocks until the processes have ended, a few seconds at most.
observe::ToolResult reap_tool(const boost::json::object& arguments);

}  // namespace corral::cli
