// The tools of the control server: what is told about them. Who does them is given.
#pragma once

#include <functional>
#include <vector>

#include "observe/tool.h"

namespace corral::observe {

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

std::vector<Tool> control_tools(const ControlFunctions& functions);

}  // namespace corral::observe
