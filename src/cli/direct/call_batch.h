// `corral call --batch`: many calls in one session. For each call, one JSON line is read from stdin and one
// is written to stdout, in order.
#pragma once

#include <string>

#include "cli/direct/mcp_client.h"
#include "cli/direct/tool_catalog.h"
#include "cli/frame/interrupts.h"

namespace corral::cli {

/// Calls the tool if the arguments match its schema. If they do not, nothing is sent, and the Answer has a
/// message but no JSON.
Answer call_tool(McpClient& client, const Tool& tool, const std::string& arguments);

/// The exit code of one call: that of its answer, or kToolFailed if the result says that the tool failed.
int exit_code_of(const Answer& answer);

/// Reads calls from stdin until its end. Returns the exit code of the first call that failed, 0 if none did;
/// 125 if stdin cannot be read or stdout not written, and then no further call is made.
int run_batch(McpClient& client, ToolCatalog& catalog, const std::string& server, Interrupts& interrupts);

/// Reads all of stdin. An error if it is too large or cannot be read; empty after Ctrl+C.
Result<std::string> read_input(Interrupts& interrupts);

}  // namespace corral::cli
