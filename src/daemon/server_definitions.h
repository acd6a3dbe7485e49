// The configuration in force, and what it means for each client that arrives: which server the client gets,
// how that server is launched, and why a client gets none.
//
// Equal environments and equal server specs are stored once, however many sessions use them. The hub owns it;
// `Reload` replaces its configuration. Belongs to the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/shares.h"
#include "config/changes.h"
#include "config/configuration.h"
#include "control/hello.h"
#include "daemon/command_names.h"
#include "daemon/origin.h"
#include "transport/http_session_opener.h"

namespace corral::daemon {

class ServerDefinitions {
 public:
  /// Reads the configuration file again.
  using ReadAgain = std::function<Result<config::Configuration>()>;
  /// `shares` counts what each principal holds; it outlives this object.
  ServerDefinitions(config::Configuration first, ReadAgain read_again, Shares& shares);

  const config::Configuration& configuration() const { return configuration_; }
  const config::Options& options() const { return configuration_.options; }
  const config::Server* find(const std::string& server) const { return configuration_.find(server); }

  /// Puts the configuration file as it is now in force, and returns what is different. After an error the
  /// configuration is the same as before, and `error` says why.
  Result<config::Changes> read_again();
  /// Why the file as it is now is not in force; empty = it is.
  const std::string& error() const { return error_; }

  /// There is one server, this command, and no configuration: `corral serve -- COMMAND`.
  void serve_only(std::vector<std::string> argv, std::string cwd, Environment environment);
  /// The name of that server; empty if there is none.
  const std::string& only_server() const { return only_.server; }

  /// The names of all commands that clients have brought along, or that `serve_only` has.
  std::vector<std::string> commands() const { return names_.all(); }

  /// Moves command, directories and environment out of the hello.
  Origin origin_of(control::Hello& hello);
  /// A client by HTTP has no environment and no directory of its own: it gets ours and the user's home. The
  /// refusal says why it may not have the project that its URL names.
  std::variant<Origin, transport::HttpRefusal> origin_of(const transport::HttpArrival& arrival);
  std::shared_ptr<const Environment> keep(Environment environment);

  /// How the server of a session from there is launched. The error says why there is none.
  Result<std::shared_ptr<const pool::ServerSpec>> spec_for(const Origin& origin);
  /// The same question without keeping the answer.
  Result<void> check(const Origin& origin) const;

  /// Why an arrival by HTTP that was accepted before is not acceptable now: its token may no longer name this
  /// project. The user may name any directory.
  std::optional<transport::HttpRefusal> objection(const transport::HttpArrival& arrival) const;
  /// Why the program that sent this is older than "min_version" allows; empty if it is not.
  std::string too_old(const control::Hello& hello) const;

 private:
  config::Configuration configuration_;
  ReadAgain read_again_;
  Shares& shares_;
  std::string error_;
  CommandNames names_;
  Environments environments_;
  ServerSpecs specs_;
  Origin only_;  // its argv is empty unless there is one server only
};

/// A client in a sandbox may use configured servers as they are configured. Its own PATH, directory and
/// variables would let it choose what runs outside the sandbox, so the daemon's launch context replaces them.
void use_own_launch_context(control::Hello& hello);

}  // namespace corral::daemon
