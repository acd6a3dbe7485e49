// The tools of the control server. The control server calls them on its worker thread, so they may block. A
// failure is a result with the error flag and the reason as text.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "cli/frame/daemon_command.h"
#include "control/hello.h"
#include "observe/tool.h"

namespace corral::cli {

/// The tools that ask the running daemon. Each call opens its own connection; none starts a daemon.
class ControlDaemon {
 public:
  explicit ControlDaemon(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {}

  using Arguments = boost::json::object;
  observe::ToolResult get_server_info() const;
  observe::ToolResult list_servers() const;
  observe::ToolResult list_sessions() const;
  observe::ToolResult end_session(const Arguments& arguments) const;
  /// restart_server, stop_server and start_server.
  observe::ToolResult handle_server(control::Verb verb, const Arguments& arguments) const;
  observe::ToolResult server_logs(const Arguments& arguments) const;

 private:
  Result<JsonAnswer> ask(const control::Hello& hello) const;
  Result<JsonAnswer> status() const;

  std::string runtime_dir_;
};

/// The tool `reap`, by the same rules as `corral reap`. Surveys the machine. Ends the selected servers only
/// if `confirm` is true and at least one selector is given. Blocks until the processes have ended, a few
/// seconds at most.
observe::ToolResult reap_tool(const boost::json::object& arguments);

}  // namespace corral::cli
