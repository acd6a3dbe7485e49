// What a client asked for, and which server that means under a configuration. An origin has everything that
// is needed to decide again after the configuration has changed. Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/configuration.h"
#include "daemon/interned.h"
#include "pool/pool.h"

namespace corral::daemon {

using Environment = std::vector<std::string>;  // "NAME=value"

struct Origin {
  std::string server;             // a configured name, or a name for the command
  std::vector<std::string> argv;  // a command that the client sent; empty = `server` is configured
  std::string cwd;
  std::string root;   // the project; empty = `cwd`
  std::string share;  // what --share asked for; empty = the configuration decides
  std::shared_ptr<const Environment> environment;
  std::string principal{};            // the token; empty = the user. Principals never share an instance
  std::vector<std::string> ignore{};  // what --ignore declared for the command

  bool configured() const { return argv.empty(); }
};

/// The server for a session with this origin. The error says why there is none.
Result<pool::ServerSpec> resolve(const Origin& origin, const config::Configuration& configuration);

/// The options among --share and --ignore that the origin asks for and the administrator has locked, as keys.
/// They have no effect.
std::vector<std::string> locked_wishes(const Origin& origin, const config::Configuration& configuration);

/// "no server is called 'fils' (perhaps 'files'); the configured servers are …". `commands` are the names of
/// clients' commands that would have been accepted, too.
Error no_such_server(const std::string& name, const config::Configuration& configuration,
                     const std::vector<std::string>& commands = {});

struct HashEnvironment {
  std::size_t operator()(const Environment& environment) const;
};
struct HashServerSpec {
  std::size_t operator()(const pool::ServerSpec& spec) const;
};
/// Within one configuration, where the same entry gives the same rules.
struct SameServerSpec {
  bool operator()(const pool::ServerSpec& one, const pool::ServerSpec& other) const;
};

using Environments = Interned<Environment, HashEnvironment, std::equal_to<>>;
using ServerSpecs = Interned<pool::ServerSpec, HashServerSpec, SameServerSpec>;

}  // namespace corral::daemon
