// The MCP client of `corral tools` and `corral call`. It sends one request at a time and waits for the
// answer. It uses the newest revision with a handshake, over the pipes of a child `corral connect`, which can
// reach every server. Single-threaded: hooks run inside `begin`, `ask` and `listen`, and must not call the
// client.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/direct/connect_child.h"
#include "cli/frame/interrupts.h"
#include "wire/line_reader.h"
#include "wire/message.h"

namespace corral::cli {

/// Exit codes of the commands that talk to a server; docs/direct.md has the list for users.
inline constexpr int kToolFailed = 1;
inline constexpr int kBadArguments = 2;
inline constexpr int kProtocolError = 3;
inline constexpr int kNotReached = 4;
inline constexpr int kTimedOut = 124;  // as timeout(1)

/// The outcome of a request.
struct Answer {
  enum class Kind { Result, Error, Lost, TimedOut, Interrupted };

  Kind kind = Kind::Lost;
  std::string json;     // the result or the error, as the server wrote it
  std::string message;  // for people; empty for a result
  int exit_code = kNotReached;

  bool ok() const { return kind == Kind::Result; }
};

/// Callbacks for messages that arrive before the answer. Empty = ignored.
struct Hooks {
  std::function<void(std::string_view params)> progress;  // of the open request
  std::function<void(std::string_view params)> log;
  /// Returns the result of an elicitation; nothing = interrupted. If it is empty, the capability is not
  /// declared.
  std::function<std::optional<std::string>(std::string_view params)> elicit;
};

class McpClient {
 public:
  using Time = std::chrono::steady_clock::time_point;

  McpClient(Interrupts& interrupts, Hooks hooks, std::chrono::milliseconds timeout);

  /// Starts `corral ARGS...` and performs the handshake. Returns the answer to initialize. Call it first, and
  /// once.
  Answer begin(const std::vector<std::string>& args, const ChildPlace* place = nullptr);
  /// Sends a request and waits. `params` is a JSON object. On timeout or Ctrl+C the request is cancelled.
  Answer ask(std::string_view method, const std::string& params);
  /// Whether the server declared this capability.
  bool has_capability(std::string_view name) const;
  /// The result of initialize, as JSON.
  const std::string& server() const { return initialized_; }
  /// The number of notifications/tools/list_changed so far.
  std::size_t changes_of_tools() const { return changes_of_tools_; }
  /// Between requests: the descriptor to poll (-1 if the server is lost), and the function that reads and
  /// handles what has arrived.
  int fd() const { return lost() ? -1 : child_->output(); }
  void listen();
  /// True when no answer can arrive any more.
  bool lost() const { return !child_.has_value() || ended_; }
  /// Ends the child and waits for it; called by the destructor of the child otherwise.
  void end();

 private:
  struct Open;  // the request that waits for its answer

  Answer handshake();
  Answer wait_for(Open& open);
  bool exchange(Open& open);  // sends and receives once, waiting until the deadline at most
  void receive(Open& open);
  void take(const wire::Message& message, Open& open);
  void handle_request(const wire::Message& message, Open& open);
  void handle_notification(const wire::Message& message, const Open& open);
  void handle_oversized(Open& open);
  void send(const std::string& line) { outgoing_ += line + '\n'; }
  void flush();
  void drop_sent();
  void cancel(const Open& open, const char* reason);
  Answer lose();

  Interrupts& interrupts_;
  Hooks hooks_;
  std::chrono::milliseconds timeout_;
  std::optional<ConnectChild> child_;
  wire::LineReader reader_;
  std::string outgoing_;
  std::size_t sent_ = 0;  // of outgoing_
  std::string initialized_;
  std::uint64_t last_id_ = 0;
  std::size_t changes_of_tools_ = 0;
  bool ended_ = false;
};

}  // namespace corral::cli
