// What `corral tools` and `corral call` have in common: which server, how to reach it, and how long to wait.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

enum class Output { Text, Json };

struct DirectOptions {
  std::vector<std::string> connect;  // options for `corral connect`, unchanged
  std::chrono::milliseconds timeout{std::chrono::minutes{5}};
  Output output = Output::Text;
};

void add_direct_options(Command& command, const std::shared_ptr<DirectOptions>& options);

/// A configured server, or a command of the user.
struct Server {
  std::string name;
  std::vector<std::string> command;  // empty = a configured server

  /// The name for messages. Never the command, whose arguments may contain a secret.
  std::string title() const { return command.empty() ? "'" + name + "'" : "the server"; }
};

/// The arguments of `corral` for a connection to this server.
std::vector<std::string> connect_args(const DirectOptions& options, const Server& server);

/// A server, and the arguments that follow it.
struct Target {
  Server server;
  std::vector<std::string> args;
};

/// Parses "NAME ARG...", "-- COMMAND [PART...] -- ARG..." and "-- COMMAND ARG...", where the command is one
/// word or a whole command line in quotes. `late` are the options that may be among ARG...
Result<Target> find_target(const std::vector<Option>& late, std::vector<std::string> args);
/// The same for commands in which nothing follows the server's command: "-- COMMAND [PART...]".
Result<Target> find_lone_target(const std::vector<Option>& late, std::vector<std::string> args);

/// Splits a line as a shell does: at spaces, except in quotes or after a backslash. Expands nothing.
Result<std::vector<std::string>> split_line(const std::string& line);

}  // namespace corral::cli
