// Where a session comes from, and what that means for the server that it gets: everything that must be known
// to answer the same question again when the configuration has changed. Pure.
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
  std::string server;             // a configured name, or what to call the command
  std::vector<std::string> argv;  // a command of the client's own; empty = `server` is configured
  std::string cwd;
  std::string root;   // the project; empty = `cwd`
  std::string share;  // what --share asked for; empty = the configuration decides
  std::shared_ptr<const Environment> environment;
  std::string principal{};  // whose it is, if not the user's own; such share with nobody else

  bool configured() const { return argv.empty(); }
};

/// The server that a session from there gets, by this configuration. The error says why it gets none.
Result<pool::ServerSpec> resolve(const Origin& origin, const config::Configuration& configuration);

/// "no server is called 'fils' (perhaps 'files'); configured are …"
Error no_such_server(const std::string& name, const config::Configuration& configuration);

struct HashEnvironment {
  std::size_t operator()(const Environment& environment) const;
};
struct HashServerSpec {
  std::size_t operator()(const pool::ServerSpec& wanted) const;
};
/// Within one configuration: the rules that come from an entry are the same then.
struct SameServerSpec {
  bool operator()(const pool::ServerSpec& one, const pool::ServerSpec& other) const;
};

using Environments = Interned<Environment, HashEnvironment, std::equal_to<>>;
using ServerSpecs = Interned<pool::ServerSpec, HashServerSpec, SameServerSpec>;

}  // namespace corral::daemon
