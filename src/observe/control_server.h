// An MCP server of the legacy era, with lines in and lines out: `corral mcp` connects it to stdin and stdout.
// Tools run elsewhere, so that a slow tool does not delay a ping. Input is not trusted: each request is
// answered exactly once, unless it was cancelled, and nothing else is sent. Used on one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "observe/tool.h"
#include "wire/message.h"

namespace corral::observe {

class ControlServer {
 public:
  /// The server's connections to the outside. `run` must execute the job elsewhere and then call `done` on
  /// the server's thread; `done` may be called after the server is gone.
  struct Surroundings {
    std::string version;  // the version to report
    std::function<void(const std::string& message)> send;
    std::function<void(std::function<void()> job, std::function<void()> done)> run;
  };

  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;
  static constexpr std::size_t kMostCalls = 64;  // at once

  ControlServer(std::vector<Tool> tools, Surroundings surroundings);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;

  /// Handles one line from the client. May call `send` before it returns.
  void take(std::string_view line);
  /// Handles a line that was too long and has been discarded. `id` is JSON text; empty = no id was found.
  void take_oversized(std::string_view id);

  /// The number of calls that have not been answered.
  std::size_t open_calls() const { return calls_.size(); }

 private:
  struct Call;

  void take_message(const wire::Message& message);
  void take_batch(std::string_view line);
  void take_request(const wire::Message& message);
  void take_cancellation(const wire::Message& message);
  void initialize(std::string_view id, std::string_view params);
  void list_tools(std::string_view id, std::string_view params);
  void call_tool(std::string_view id, std::string_view params);
  void start_call(std::string_view id, const Tool& tool, boost::json::object arguments);
  void finish_call(const std::string& id, const std::shared_ptr<Call>& call);
  void refuse(std::string_view id, int code, std::string_view why);
  const Tool* find(std::string_view name) const;

  std::vector<Tool> tools_;
  Surroundings surroundings_;
  std::string revision_;                                // negotiated; empty before initialize
  std::map<std::string, std::shared_ptr<Call>> calls_;  // by the text of the id
  Lifetime lifetime_;
};

}  // namespace corral::observe
