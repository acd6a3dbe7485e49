// Whether every configured server can be used now: what `/readyz` answers. Pure.
#pragma once

#include <string>

#include "daemon/server_definitions.h"
#include "http/access.h"
#include "pool/pool.h"

namespace corral::daemon {

struct Readiness {
  bool ready = false;
  std::string json;
};

enum class ShuttingDown : bool { No, Yes };

/// The JSON names only the servers that `who` may use; null = an unknown client, which learns no name.
Readiness readiness_of(const ServerDefinitions& definitions, const pool::Pool& pool,
                       ShuttingDown shutting_down, const http::Principal* who);

}  // namespace corral::daemon
