// A small MCP client that asks one thing at a time and waits for the answer: what `corral tools` and `corral
// call` are made of. It speaks the newest revision with a handshake over the pipes of a `corral connect` of
// its own, which knows how to reach every server. One thread.
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
inline constexpr int kTimedOut = 124;  // as of timeout(1)

/// How a question ended.
struct Answer {
  enum class Kind { Result, Error, Lost, TimedOut, Interrupted };

  Kind kind = Kind::Lost;
  std::string json;     // the result or the error, as the server wrote it
  std::string message;  // for people; empty for a result
  int exit_code = kNotReached;

  bool ok() const { return kind == Kind::Result; }
};

/// What becomes of what a server says in between. Empty = it is not wanted.
struct Hooks {
  std::function<void(std::string_view params)> progress;  // of the question that is open
  std::function<void(std::string_view params)> log;
  /// The result of an elicitation; nothing = interrupted. Only with it the capability is declared.
  std::function<std::optional<std::string>(std::string_view params)> elicit;
};

class McpClient {
 public:
  using Time = std::chrono::steady_clock::time_point;

  McpClient(Interrupts& interrupts, Hooks hooks, std::chrono::milliseconds timeout);

  /// Starts `corral WORD...` and shakes hands. The answer is that of initialize.
  Answer begin(const std::vector<std::string>& args);
  /// `params` is a JSON object. Cancels the question if its time is up or a person presses Ctrl+C.
  Answer ask(std::string_view method, const std::string& params);
  /// Whether the server said in its handshake that it has this.
  bool has_capability(std::string_view name) const;
  /// Of the handshake.
  const std::string& server() const { return initialized_; }
  /// How often the server said that its list of tools is another one now.
  std::size_t changes_of_tools() const { return changes_of_tools_; }
  /// Between questions: where the server is heard, -1 if it is lost, and what takes what it says.
  int fd() const { return lost() ? -1 : child_->output(); }
  void listen();
  /// No answer can come any more.
  bool lost() const { return !child_.has_value() || ended_; }
  void end();

 private:
  struct Open;  // the question that waits for its answer

  Answer handshake();
  Answer wait_for(Open& open);
  bool exchange(Open& open);  // sends and takes what goes without waiting longer than to the deadline
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
