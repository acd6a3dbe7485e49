// `corral call --batch`: many calls in one session, one JSON line in and one out for each, in order.
#pragma once

#include <string>

#include "cli/direct/mcp_client.h"
#include "cli/direct/tool_catalog.h"
#include "cli/frame/interrupts.h"

namespace corral::cli {

/// Calls a tool if it is there and the arguments fit its schema; an Answer without JSON if they do not.
Answer call_tool(McpClient& client, const Tool& tool, const std::string& arguments);

/// The exit code of one call: that of its answer, or that its tool failed.
int exit_code_of(const Answer& answer);

/// Reads calls from stdin until its end. Returns the exit code of the first call that failed, 0 if none did;
/// 125 if stdin cannot be read or stdout not written, and then no further call is made.
int run_batch(McpClient& client, ToolCatalog& catalog, const std::string& server, Interrupts& interrupts);

/// All of stdin; an error if it is too large or cannot be read, nothing if Ctrl+C came.
Result<std::string> read_input(Interrupts& interrupts);

}  // namespace corral::cli
