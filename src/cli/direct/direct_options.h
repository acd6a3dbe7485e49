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
  std::vector<std::string> connect;  // passed on to `corral connect` as they were given
  std::chrono::milliseconds timeout{std::chrono::minutes{5}};
  Output output = Output::Text;
};

void add_direct_options(Command& command, const std::shared_ptr<DirectOptions>& options);

/// A server by its name, or by a command of the user's own.
struct Server {
  std::string name;
  std::vector<std::string> command;  // empty = the name

  /// For messages. Not the command, whose arguments may hold a secret.
  std::string title() const { return command.empty() ? "'" + name + "'" : "the server"; }
};

/// The words for a `corral connect` to this server.
std::vector<std::string> connect_args(const DirectOptions& options, const Server& server);

/// A server, and the words that stand behind it.
struct Target {
  Server server;
  std::vector<std::string> args;
};

/// Reads "NAME WORD...", "-- COMMAND [ARG...] -- WORD..." and "-- COMMAND WORD...", where the command is one
/// word, or a whole line in quotes. `late` are the options that may stand among the words.
Result<Target> find_target(const std::vector<Option>& late, std::vector<std::string> args);
/// The same where nothing may stand behind a command: "-- COMMAND [ARG...]".
Result<Target> find_lone_target(const std::vector<Option>& late, std::vector<std::string> args);

/// A line as a shell cuts it: blanks part words, quotes and backslashes hold them together. Nothing is
/// expanded.
Result<std::vector<std::string>> split_line(const std::string& line);

}  // namespace corral::cli
