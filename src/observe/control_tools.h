// The tools of the control server: their names, descriptions and schemas. The caller supplies the functions.
#pragma once

#include <functional>
#include <vector>

#include "observe/tool.h"

namespace corral::observe {

/// The implementations. They run on a thread other than the server's (tool.h).
struct ControlFunctions {
  using Function = std::function<ToolResult(const boost::json::object& arguments)>;

  Function get_server_info;
  Function list_servers;
  Function list_sessions;
  Function end_session;
  Function restart_server;
  Function stop_server;
  Function start_server;
  Function reap;
  Function server_logs;
};

inline constexpr std::int64_t kMostLogLines = 1000;
inline constexpr std::int64_t kUsualLogLines = 100;

/// The list for ControlServer. Each tool keeps a copy of its function.
std::vector<Tool> control_tools(const ControlFunctions& functions);

}  // namespace corral::observe
